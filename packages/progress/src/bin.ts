#!/usr/bin/env node
/** The executable `pi-progress`: connects `run` to this process. */
import { readFileSync } from "node:fs";
import { run } from "./stream.ts";

const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

// Not `process.exit`, which would lose output that is still being written to a pipe.
process.exitCode = await run({
	args: process.argv.slice(2),
	stdin: process.stdin,
	stdout: process.stdout,
	stderr: process.stderr,
	version: manifest.version,
});
