#!/usr/bin/env node
/** `pi-subagents-worker --stdio`: runs agents on this machine for the pi at the other end of its input and output. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { messageOf, systemClock } from "@pi-subagents/core";
import { Worker } from "./far/worker.ts";
import { serve } from "./stdio/serve.ts";
import { VERSION } from "./version.ts";

const USAGE = `pi-subagents-worker ${VERSION}

  --stdio               serve one pi over standard input and output
  --agent-dir <path>    pi's directory (default: PI_CODING_AGENT_DIR, or ~/.pi/agent)
  --pi <program>        how to start pi (default: pi); may be given several times, for arguments
  --trust-projects      let settings of a project count if the user trusts it where the order comes from
  --lease <seconds>     how long a run that nobody follows continues (default: 60)
  --version
`;

async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			stdio: { type: "boolean", default: false },
			"agent-dir": { type: "string" },
			pi: { type: "string", multiple: true, default: ["pi"] },
			"trust-projects": { type: "boolean", default: false },
			lease: { type: "string", default: "60" },
			version: { type: "boolean", default: false },
		},
	});
	if (values.version) {
		process.stdout.write(`${VERSION}\n`);
		return 0;
	}
	const leaseMs = Number(values.lease) * 1_000;
	if (!values.stdio || !(leaseMs >= 0)) {
		process.stderr.write(USAGE);
		return 2;
	}
	const agentDir = resolve(values["agent-dir"] ?? process.env.PI_CODING_AGENT_DIR ?? join(homedir(), ".pi", "agent"));
	const [command = "pi", ...args] = values.pi;
	const report = (message: string) => void process.stderr.write(`${message}\n`);
	const worker = new Worker({
		home: join(agentDir, "state", "subagents", "worker"),
		agentDir,
		pi: { command, args },
		wrapper: beside("wrapper.js"),
		childEntry: beside("child.js"),
		mcpEntry: beside("child-mcp.ts"),
		trustsProjects: values["trust-projects"],
		leaseMs,
		clock: systemClock,
		report,
	});
	process.on("SIGHUP", () => undefined); // the connection's end is seen by its input
	const letGo = systemClock.hold?.(); // the clock's timers alone would not keep the process alive
	void worker.prune();
	await serve({ worker, version: VERSION, input: process.stdin, output: process.stdout, clock: systemClock });
	letGo?.();
	return 0;
}

/** The files that run in other processes are beside this one. */
function beside(name: string): string {
	const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
	if (!existsSync(path)) throw new Error(`${path} is missing: install pi-subagents again`);
	return path;
}

process.exit(
	await main().catch((error: unknown) => {
		process.stderr.write(`pi-subagents-worker: ${messageOf(error)}\n`);
		return 1;
	}),
);
