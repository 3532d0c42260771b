#!/usr/bin/env node
/**
 * `pi-subagents-worker`: runs agents on this machine, for the pi at the other end of its input and output (`--stdio`) or
 * for all that send orders to a fleet (`--nats`). `up` starts a whole fleet here.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { runsAs } from "@pi-subagents/core/internal/files";
import { sanitizeBlock } from "@pi-subagents/progress";
import { takeGuardOrder } from "@pi-subagents/runners/detached";
import { createModelList } from "./far/models.ts";
import { Worker, type WorkerOptions } from "./far/worker.ts";
import { serve } from "./stdio/serve.ts";
import { VERSION } from "./version.ts";

const USAGE = `pi-subagents-worker ${VERSION}

  up                    start a fleet here: nats-server on the loopback, and one worker
  --stdio               serve one pi over standard input and output
  --nats <address>      serve a fleet: take orders from a NATS engine, nats://host:4222 or tls://host:4222

For both:
  --agent-dir <path>    pi's directory (default: PI_CODING_AGENT_DIR, or ~/.pi/agent)
  --pi <program>        how to start pi (default: pi); may be given several times, for arguments
  --trust-projects      let settings of a project count if the user trusts it where the order comes from
  --lease <seconds>     how long a run that no one follows continues (default: 60)
  --version

For a fleet:
  --token-file <path>   the engine's token; or --nkey-file <path>, the seed of an nkey
  --key-file <path>     the key that both sides seal messages with (default: derived from the token)
  --ca-file <path>      the certificate of the authority that signed the engine's certificate
  --fleet <name>        the user's part of the engine (default: main)
  --name <name>         what to call this worker (default: the machine's name)
  --labels <a,b>        what this worker has; orders may ask for it
  --slots <number>      how many agents it runs at the same time (default: 4)
`;

const text = { type: "string" } as const;

function parsed() {
	const flag = { type: "boolean", default: false } as const;
	return parseArgs({
		allowPositionals: true,
		options: {
			stdio: flag,
			nats: text,
			version: flag,
			"agent-dir": text,
			"trust-projects": flag,
			pi: { ...text, multiple: true, default: ["pi"] },
			lease: { ...text, default: "60" },
			"token-file": text,
			"nkey-file": text,
			"key-file": text,
			"ca-file": text,
			fleet: text,
			name: { ...text, default: hostname() },
			labels: { ...text, default: "" },
			slots: { ...text, default: "4" },
		},
	});
}

type Values = ReturnType<typeof parsed>["values"];

async function main(): Promise<number> {
	const { values, positionals } = parsed();
	if (values.version) {
		process.stdout.write(`${VERSION}\n`);
		return 0;
	}
	const leaseMs = Number(values.lease) * 1_000;
	const isUp = positionals.join(" ") === "up";
	const wishes = [isUp, values.stdio, values.nats !== undefined].filter(Boolean);
	if (wishes.length !== 1 || !(leaseMs >= 0) || (positionals.length > 0 && !isUp)) {
		process.stderr.write(USAGE);
		return 2;
	}
	const letGo = systemClock.hold?.(); // the clock's timers alone would not keep the process alive
	const agentDir = resolve(values["agent-dir"] ?? process.env.PI_CODING_AGENT_DIR ?? join(homedir(), ".pi", "agent"));
	if (isUp) return startFleet(agentDir);
	process.on("SIGHUP", () => undefined); // the connection's end is seen by its input
	await (values.nats === undefined ? serveStdio(values, agentDir, leaseMs) : serveFleet(values, agentDir, leaseMs));
	letGo?.();
	return 0;
}

function workerOptions(values: Values, agentDir: string, leaseMs: number): Omit<WorkerOptions, "home"> {
	const [command = "pi", ...args] = values.pi;
	return {
		agentDir,
		pi: { command, args },
		wrapper: beside("wrapper.js"),
		childEntry: beside("child.js"),
		guardsEntry: beside("child-guards.ts"),
		mcpEntry: beside("child-mcp.ts"),
		noUserEntry: beside("child-no-user.ts"),
		scoutEntry: beside("guard-scout.ts"),
		trustsProjects: values["trust-projects"],
		leaseMs,
		clock: systemClock,
		report: (message: string) => void process.stderr.write(`${sanitizeBlock(message)}\n`),
	};
}

async function serveStdio(values: Values, agentDir: string, leaseMs: number): Promise<void> {
	const home = join(agentDir, "state", "subagents", "worker");
	const sessionGuards = takeGuardOrder(process.env);
	const worker = new Worker({ ...workerOptions(values, agentDir, leaseMs), home, ...defined({ sessionGuards }) });
	void worker.prune();
	await serve({ worker, version: VERSION, input: process.stdin, output: process.stdout, clock: systemClock });
}

/** Until a signal asks it to end. */
async function serveFleet(values: Values, agentDir: string, leaseMs: number): Promise<void> {
	runsAs("the worker");
	const { nats = "", name, fleet } = values;
	const bundled = fleetPackages();
	const { FleetWorker } = await import("./nats/serve.ts");
	const slots = Number(values.slots);
	if (!/^[\w-][\w.-]{0,63}$/.test(name)) throw new Error("--name may have letters, digits, and any of . _ -");
	if (!Number.isInteger(slots) || slots < 1 || slots > 1_000) throw new Error("--slots must be from 1 to 1000");
	const home = join(agentDir, "state", "subagents", "fleet", name);
	const options = { ...workerOptions(values, agentDir, leaseMs), home };
	const worker = new Worker(options);
	void worker.prune();
	const files = {
		tokenFile: values["token-file"],
		nkeyFile: values["nkey-file"],
		keyFile: values["key-file"],
		caFile: values["ca-file"],
	};
	const paths = Object.entries(files).map(([key, path]) => [key, path === undefined ? undefined : resolve(path)]);
	const fleetWorker = await FleetWorker.start({
		worker,
		home,
		name,
		slots,
		version: VERSION,
		clock: systemClock,
		report: options.report,
		access: { nats, ...defined({ fleet, ...(Object.fromEntries(paths) as typeof files) }) },
		labels: values.labels.split(",").flatMap((label) => (label.trim() === "" ? [] : [label.trim()])),
		models: createModelList(options),
		bundled,
	});
	const { models } = fleetWorker;
	const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
	const known = models.length > 0 ? counted(models.length, "model") : "no models: is pi installed here, and logged in?";
	process.stdout.write(`worker ${name} is ready: ${counted(slots, "slot")}, ${known}\n`);
	await once(untilTold(), "abort");
	await fleetWorker.close();
}

async function startFleet(agentDir: string): Promise<number> {
	fleetPackages();
	const { up } = await import("./fleet/up.ts");
	const args = process.argv.slice(2).filter((word, index, words) => word !== "up" || words.indexOf("up") !== index);
	const print = (said: string) => void process.stdout.write(said);
	return up({ agentDir, worker: fileURLToPath(import.meta.url), args, print, signal: untilTold() });
}

/** Fires when a signal asks this process to end. */
function untilTold(): AbortSignal {
	const told = new AbortController();
	// A terminal that was closed takes no more words. What this process has started must end all the same.
	for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => told.abort());
	return told.signal;
}

function fleetPackages(): string {
	const path = existing("nats-client.js");
	if (path !== undefined) return path;
	throw new Error(
		"this worker came with the extension and serves one pi. For a fleet: npm install -g @pi-subagents/remote",
	);
}

/** The files that run in other processes are beside this one. */
function beside(name: string): string {
	const path = existing(name);
	if (path === undefined) throw new Error(`${name} is missing: install pi-subagents again`);
	return path;
}

function existing(name: string): string | undefined {
	const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
	return existsSync(path) ? path : undefined;
}

process.exit(
	await main().catch((error: unknown) => {
		process.stderr.write(`pi-subagents-worker: ${sanitizeBlock(messageOf(error))}\n`);
		return 1;
	}),
);
