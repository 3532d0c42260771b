#!/usr/bin/env node
/** The executable `pi-presets`: connects `runCli` to this process. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { runCli } from "./cli/cli.ts";

process.exitCode = await runCli(process.argv.slice(2), {
	cwd: process.cwd(),
	home: homedir(),
	env: process.env,
	version: () => JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version,
	columns: process.stdout.columns,
	out: (text) => process.stdout.write(text),
	err: (text) => process.stderr.write(text),
});
