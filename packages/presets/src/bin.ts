#!/usr/bin/env node
/** The executable `pi-presets`: gives the process to `runCli` and nothing else. */
import { homedir } from "node:os";
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2), {
	cwd: process.cwd(),
	home: homedir(),
	env: process.env,
	columns: process.stdout.columns,
	out: (text) => process.stdout.write(text),
	err: (text) => process.stderr.write(text),
});
