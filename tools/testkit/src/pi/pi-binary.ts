/** The pi that the workspace depends on, as a program to run. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PiBinary {
	readonly version: string;
	/** Program and leading arguments. */
	readonly command: readonly [program: string, ...args: string[]];
}

/** The bundle that users run, not the module files beside it. */
export function piUnderTest(): PiBinary {
	const dist = dirname(fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent")));
	return piIn(dirname(dist));
}

/** The pi whose package is in this directory. */
export function piIn(packageDir: string): PiBinary {
	const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { version: string };
	return { version, command: [process.execPath, join(packageDir, "dist", "bundle", "cli.js")] };
}
