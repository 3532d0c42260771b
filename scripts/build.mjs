#!/usr/bin/env node
/**
 * `node scripts/build.mjs <package>` builds the dependencies of a workspace package, `node scripts/build.mjs './packages/*'`
 * the packages in a directory. It prints something only if that fails.
 */
import { spawnSync } from "node:child_process";

const what = process.argv[2] ?? "";
const filter = what.startsWith(".") ? `--filter=${what}` : `--filter=${what}^...`;
const { status, stdout, stderr, error } = spawnSync("turbo", ["run", "build", filter, "--output-logs=errors-only"], {
	encoding: "utf8",
	shell: process.platform === "win32", // turbo is a .cmd file there
});
if (status !== 0) {
	console.error(
		error ? `could not start turbo (run this through a package script): ${error.message}` : `${stdout}${stderr}`,
	);
	process.exit(status ?? 1);
}
