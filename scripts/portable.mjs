#!/usr/bin/env node
/**
 * `npm run test:portable [-- --list]`: the tests that must hold on every system, chosen by what they touch: a test file is
 * portable if neither it nor the test code that it imports starts processes, sends signals, or uses files, modes and
 * links. CI runs it on Windows and macOS. What those systems lack is in docs/platforms.md.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOT_PORTABLE =
	/node:(?:fs|child_process|os|net|http|worker_threads)|\bSIG[A-Z]{3,}\b|process\.(?:kill|platform)|pi-subagents-dev\/testkit"|import\.meta\.resolve/;

const chosen = readdirSync(join(root, "packages"))
	.map((name) => join(root, "packages", name))
	.map((dir) => ({ dir, files: testsIn(dir).filter((file) => isPortable(file)) }))
	.filter(({ files }) => files.length > 0);

if (process.argv.includes("--list")) {
	for (const { files } of chosen) for (const file of files) console.log(relative(root, file).split(sep).join("/"));
} else process.exitCode = chosen.filter((each) => !passes(each)).length === 0 ? 0 : 1;

function passes({ dir, files }) {
	console.log(`\n=== ${relative(root, dir)}: ${files.length} files`);
	const vitest = join(dirname(createRequire(join(dir, "package.json")).resolve("vitest/package.json")), "vitest.mjs");
	// With slashes: vitest compares these with its own paths.
	const names = files.map((file) => relative(dir, file).split(sep).join("/"));
	const { status } = spawnSync(process.execPath, [vitest, "run", ...names], { cwd: dir, stdio: "inherit" });
	return status === 0;
}

function testsIn(dir) {
	const tests = join(dir, "test");
	if (!existsSync(tests)) return [];
	const entries = readdirSync(tests, { recursive: true, withFileTypes: true });
	return entries.filter(({ name }) => name.endsWith(".test.ts")).map(({ parentPath, name }) => join(parentPath, name));
}

/** With the test code that it imports, directly or not. */
function isPortable(file, seen = new Set()) {
	if (seen.has(file) || !existsSync(file)) return true;
	seen.add(file);
	const text = readFileSync(file, "utf8");
	if (NOT_PORTABLE.test(text)) return false;
	const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => resolve(dirname(file), path));
	return imports.filter((path) => path.split(sep).includes("test")).every((path) => isPortable(path, seen));
}
