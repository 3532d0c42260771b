#!/usr/bin/env node
/** The executable `pi-subagents`: connects `run` to this process. */
import { readFileSync } from "node:fs";
import { run } from "./run.ts";

const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const ending = new AbortController();
process.once("SIGINT", () => ending.abort()).once("SIGTERM", () => ending.abort());
// `pi-subagents list | head` closes our output early.
process.stdout.on("error", () => process.exit(0));

// Not `process.exit`, which would lose output that is still being written to a pipe.
process.exitCode = await run({
	args: process.argv.slice(2),
	stdout: process.stdout,
	stderr: process.stderr,
	env: process.env,
	cwd: process.cwd(),
	version: manifest.version,
	signal: ending.signal,
});
