#!/usr/bin/env node
/**
 * `npm run example <name> [arguments]` runs an example of `examples/` from this clone. An example names published
 * packages; here it gets those of the clone instead, as links in its `node_modules`, and pi from the workspace.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name = "", ...args] = process.argv.slice(2);
const names = readdirSync(join(root, "examples")).filter((each) =>
	existsSync(join(root, "examples", each, "README.md")),
);
if (!names.includes(name)) {
	console.error(`${name === "" ? "Name an example" : `There is no example "${name}"`}: ${names.join(", ")}.`);
	process.exit(1);
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
