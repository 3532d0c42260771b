/** Whether a program that some tests need is there. A test that cannot run says so, loudly. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** For `test.skipIf(!requireTool("tmux"))`. */
export function requireTool(name: string): boolean {
	if (isOnPath(name)) return true;
	process.stderr.write(`\nSKIPPING: ${name} is not installed, so the tests that need it do not run\n`);
	return false;
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
