#!/usr/bin/env node
/**
 * `node scripts/build.mjs <package>` builds a workspace package and its dependencies, `node scripts/build.mjs './packages/*'`
 * the packages in a directory. It prints the output only if that fails, and what it does if that takes a while.
 */
import { runStep } from "./step.mjs";

const what = process.argv[2] ?? "";
const filter = what.startsWith(".") ? `--filter=${what}` : `--filter=${what}...`;
const title = what.startsWith(".") ? "Building the packages" : `Building ${what} and what it needs`;
try {
	const { status, output } = await runStep(title, "turbo", ["run", "build", filter, "--output-logs=errors-only"], {
		shell: process.platform === "win32", // turbo is a .cmd file there
	});
	if (status !== 0) process.stderr.write(output);
	process.exitCode = status;
} catch (error) {
	console.error(`could not start turbo (run this through a package script): ${error.message}`);
	process.exitCode = 1;
}
