/** Whether a program that some tests need is installed. A skipped test is announced; `REQUIRE_TOOLS` turns it into a failure. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** For `test.skipIf(!requireTool("tmux"))`. */
export function requireTool(name: string): boolean {
	if (isOnPath(name)) return true;
	if (requiredTools().includes(name)) throw new Error(`REQUIRE_TOOLS names ${name}, but it is not installed`);
	process.stderr.write(`\nSKIPPING: ${name} is not installed, so the tests that need it do not run\n`);
	return false;
}

/** Separated by spaces or commas; `.ci/run` sets it after installing them. */
function requiredTools(): string[] {
	return (process.env.REQUIRE_TOOLS ?? "").split(/[\s,]+/).filter(Boolean);
}

function isOnPath(name: string): boolean {
	const directories = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
	const suffixes = process.platform === "win32" ? (process.env.PATHEXT ?? ".EXE;.CMD").split(";") : [""];
	return directories.some((directory) => suffixes.some((suffix) => isExecutable(join(directory, name + suffix))));
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
