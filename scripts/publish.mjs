#!/usr/bin/env node
/**
 * `node scripts/publish.mjs [--dry-run]`: publishes each public package whose version the registry does not have yet, with
 * provenance, and then tags the commit. pnpm packs, since only it resolves `workspace:` and `catalog:`; npm publishes,
 * since it can prove to the registry where the tarball was made. For the release workflow; it needs no stored token.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isDry = process.argv.includes("--dry-run");
const shell = process.platform === "win32"; // npm and pnpm are .cmd files there
const { GITHUB_REPOSITORY, GITHUB_SERVER_URL } = process.env;

if (!isDry && !GITHUB_REPOSITORY) {
	console.error("Only the release workflow can publish, since provenance needs its identity. Try --dry-run.");
	process.exit(1);
}
const tarballs = mkdtempSync(join(tmpdir(), "pi-subagents-publish-"));

try {
	for (const dir of readdirSync(join(root, "packages")).map((name) => join(root, "packages", name))) publish(dir);
	if (!isDry) execFileSync("pnpm", ["exec", "changeset", "git-tag"], { cwd: root, stdio: "inherit", shell });
} finally {
	rmSync(tarballs, { recursive: true, force: true });
}

function publish(dir) {
	const { name, version, private: isPrivate } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
	if (isPrivate) return; // a room of the extension, bundled with it
	if (!isDry && isPublished(`${name}@${version}`)) return console.log(`${name}@${version} is published already`);
	if (!isDry) recordRepository(dir);
	execFileSync("pnpm", ["pack", "--pack-destination", tarballs], { cwd: dir, stdio: "ignore", shell });
	const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
	const how = isDry ? ["--dry-run"] : ["--provenance"]; // a dry run has no identity to prove
	execFileSync("npm", ["publish", `./${file}`, "--access", "public", "--loglevel=error", ...how], {
		cwd: tarballs,
		stdio: ["ignore", "ignore", "inherit"],
		shell,
	});
	console.log(`${name}@${version} ${isDry ? "would be" : "is"} published`);
}

/** The registry compares this with the identity of the workflow. */
function recordRepository(dir) {
	const path = join(dir, "package.json");
	const manifest = JSON.parse(readFileSync(path, "utf8"));
	const url = `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`;
	manifest.repository = { type: "git", url, directory: relative(root, dir) };
	writeFileSync(path, `${JSON.stringify(manifest, null, "\t")}\n`);
}

/** Throws if the registry cannot be reached: no answer does not mean that it lacks the version. */
function isPublished(spec) {
	const { status, stderr } = spawnSync("npm", ["view", spec, "version"], { encoding: "utf8", shell });
	if (status === 0) return true;
	if (/E404/.test(stderr)) return false;
	throw new Error(`npm could not say whether ${spec} is published: ${stderr}`);
}
