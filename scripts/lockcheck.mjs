#!/usr/bin/env node
/**
 * Fails when `pnpm-lock.yaml` lacks platform binaries that its packages offer, or names a download address.
 * If a registry has only some platforms, pnpm drops the others silently, and users of macOS or Windows get a
 * tool without its binary. Reads what is installed; needs no network.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
const complaints = lock
	.split("\n")
	.filter((line) => /https?:\/\//.test(line))
	.map((line) => `names a download address: ${line.trim()}`);
const locked = new Set([...lock.matchAll(/^ {2}'?(@?[^@'\s]+)@[^'\s:]+'?:/gm)].map(([, name]) => name));

let checked = 0;
for (const manifest of installedManifests()) {
	const offered = Object.keys(manifest.optionalDependencies ?? {}).filter((name) =>
		/darwin|win32|windows|linux/.test(name),
	);
	if (offered.length === 0) continue;
	checked++;
	const lost = offered.filter((name) => !locked.has(name));
	if (lost.length > 0) complaints.push(`${manifest.name}@${manifest.version} lost ${lost.join(", ")}`);
}
if (checked === 0) complaints.push("nothing is installed, so nothing could be checked");

if (complaints.length > 0) {
	console.error(complaints.map((complaint) => `pnpm-lock.yaml ${complaint}`).join("\n"));
	process.exit(1);
}

function* installedManifests() {
	const store = join(root, "node_modules", ".pnpm");
	for (const entry of readdirSync(store)) {
		// `@scope+name@1.2.3_peers` → `@scope/name`
		const name = /^(@?[^@]+)@/.exec(entry)?.[1]?.replace("+", "/");
		if (!name) continue;
		try {
			yield JSON.parse(readFileSync(join(store, entry, "node_modules", name, "package.json"), "utf8"));
		} catch (error) {
			if (error.code !== "ENOENT") throw error; // binaries of other platforms are not installed here
		}
	}
}
