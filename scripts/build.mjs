#!/usr/bin/env node
/** `node scripts/build.mjs <package>`: builds what a package of the workspace needs; says something only when that fails. */
import { spawnSync } from "node:child_process";

const filter = `--filter=${process.argv[2]}^...`;
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
