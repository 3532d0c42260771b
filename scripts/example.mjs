#!/usr/bin/env node
/**
 * `npm run example <name> [arguments]` runs an example of `examples/` from this clone; without a name it lists them. An
 * example names published packages; here it gets those of the clone instead, as links in its `node_modules`, and pi from
 * the workspace. With `--build` before the name, what it needs is built first.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const builds = given[0] === "--build";
const [name = "", ...args] = builds ? given.slice(1) : given;
const names = readdirSync(join(root, "examples")).filter((each) =>
	existsSync(join(root, "examples", each, "README.md")),
);
if (!names.includes(name)) {
	if (name !== "") console.error(`There is no example "${name}".\n`);
	console[name === "" ? "log" : "error"](usage());
	process.exit(name === "" ? 0 : 1);
}
if (builds) {
	const build = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "./packages/*"], { stdio: "inherit" });
	if (build.status !== 0) process.exit(build.status ?? 1);
}

const dir = join(root, "examples", name);
const { dependencies = {}, scripts } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
for (const library of Object.keys(dependencies)) link(library);
const pi = join(root, "packages/extension/node_modules/.bin");
const path = [join(dir, "node_modules/.bin"), pi, dirname(process.execPath), process.env.PATH].join(delimiter);
// The command is the example's own; what the user adds reaches it as arguments, not as text of a shell.
const [shell, flag] = process.platform === "win32" ? ["cmd.exe", "/c"] : ["sh", "-c"];
const command = process.platform === "win32" ? [scripts.start, ...args].join(" ") : `${scripts.start} "$@"`;
const { status } = spawnSync(shell, [flag, command, name, ...args], {
	cwd: dir,
	env: {
		...process.env,
		PATH: path,
		NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
	},
	stdio: "inherit",
});
process.exit(status ?? 1);

/** The package of the clone, or what the extension's tests use of others. */
function link(library) {
	const own = join(root, "packages", library.replace("@pi-subagents/", ""));
	const target = library.startsWith("@pi-subagents/") ? own : join(root, "packages/extension/node_modules", library);
	const at = join(dir, "node_modules", library);
	mkdirSync(dirname(at), { recursive: true });
	rmSync(at, { recursive: true, force: true });
	symlinkSync(relative(dirname(at), target), at, "junction");
}

/** The names, each with its line of `examples/README.md`. */
function usage() {
	const table = readFileSync(join(root, "examples", "README.md"), "utf8");
	const about = new Map(
		[...table.matchAll(/^\| \[([^\]]+)\][^|]*\| (.*) \|$/gm)].map(([, each, text]) => [each, text.replaceAll("`", "")]),
	);
	const width = Math.max(...names.map(({ length }) => length));
	const rows = names.map((each) => `  ${each.padEnd(width)}  ${about.get(each) ?? ""}`.trimEnd());
	return ["Usage: npm run example <name> [arguments]", "", ...rows, "", "examples/<name>/README.md says more."].join(
		"\n",
	);
}
