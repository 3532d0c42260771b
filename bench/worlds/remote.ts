/**
 * The same run on this machine and behind each link: the same stand-in for the wrapper writes the same events. ssh is a
 * real sshd, and a fleet has a real nats-server, on the loopback, so without a network's own time.
 */
import { execFile, spawn } from "node:child_process";
import { once as heard } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RunIdentity, Runner, RunSpec } from "@pi-subagents/core";
import { once } from "@pi-subagents/core/internal/base";
import { createMachines, type Machine, type Machines, remoteRunner } from "@pi-subagents/remote";
import { processRunner } from "@pi-subagents/runners/process";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { findNatsServer, startEngine } from "../../packages/remote/src/fleet/engine-process.ts";
import { startSshd } from "../../packages/remote/test/fixtures/sshd.ts";

const wrapper = fileURLToPath(new URL("../fixtures/burst-wrapper.mjs", import.meta.url));
const worker = fileURLToPath(new URL("../fixtures/burst-worker.ts", import.meta.url));
const fleetWorker = fileURLToPath(new URL("../fixtures/burst-fleet-worker.ts", import.meta.url));
const home = await createTempDir();
const cleanups: (() => Promise<unknown>)[] = [home.remove];

/** Rows about ssh are left out where there is no sshd. */
export const hasSshd = existsSync("/usr/sbin/sshd");
/** The same for nats. */
export const natsServer = findNatsServer();

/** A run of a link does not keep its parent running, and here nothing else would. */
const awake = setInterval(() => undefined, 60_000);

export async function closeRemote(): Promise<void> {
	clearInterval(awake);
	for (const clean of cleanups.toReversed()) await clean();
}

export interface Link {
	runner: Runner;
	close(): void;
}

export type LinkName = "process" | "pipe" | "ssh" | "nats";

const opens: Readonly<Record<LinkName, () => Promise<Link>>> = {
	process: async () => ({
		runner: processRunner({
			agentDir: home.path,
			isProjectTrusted: () => false,
			wrapper,
			childEntry: wrapper,
			pi: { command: "false", args: [] },
		}),
		close: () => undefined,
	}),
	pipe: async () => linked("local", {}),
	ssh: async () => linked("box", { box: (await sshd()).machine }),
	nats: async () => linked("fleet", { fleet: await fleet() }),
};

/** A connection that nobody shares, as that of a pi that was just started. */
export function openLink(name: LinkName): Promise<Link> {
	return opens[name]();
}

const kept = new Map<LinkName, Promise<Link>>();

/** A connection that is there, as it is for every agent after the first. */
export async function keptLink(name: LinkName): Promise<Link> {
	const found = kept.get(name);
	if (found) return found;
	const opening = warm(await openLink(name));
	kept.set(name, opening);
	cleanups.push(async () => (await opening).close());
	return opening;
}

async function warm(link: Link): Promise<Link> {
	await burst(link, 1);
	return link;
}

const variables = () => ({ ...process.env, BURST_HOME: home.path, BURST_WRAPPER: wrapper });

const sshd = once(async () => {
	const { PATH, HOME } = process.env;
	const env = { PATH, HOME, BURST_HOME: home.path, BURST_WRAPPER: wrapper };
	const node = [process.execPath, "--disable-warning=ExperimentalWarning", worker];
	const started = await startSshd(join(home.path, "sshd"), node, env);
	cleanups.push(async () => started[Symbol.asyncDispose]());
	return started;
});

/** An engine and one worker. */
const fleet = once(async (): Promise<Machine> => {
	const engine = await startEngine(natsServer ?? "nats-server", join(home.path, "engine"));
	const { url: nats, tokenFile } = engine;
	const node = ["--disable-warning=ExperimentalWarning", fleetWorker];
	const env = { ...variables(), BURST_HOME: join(home.path, "fleet"), BURST_NATS: nats, BURST_TOKEN: tokenFile };
	const child = spawn(process.execPath, node, { env, stdio: ["ignore", "pipe", "inherit"] });
	await heard(child.stdout, "data");
	cleanups.push(engine.stop, async () => {
		const ended = heard(child, "exit");
		child.kill("SIGKILL");
		await ended;
	});
	return { nats, tokenFile };
});

function linked(machine: string, defined: Readonly<Record<string, Machine>>): Link {
	const machines: Machines = createMachines(() => defined, { agentDir: home.path, worker, env: variables() });
	const runner = remoteRunner({ agentDir: home.path, linkTo: machines.linkTo, isProjectTrusted: () => false });
	const start: Runner["start"] = (spec, emit) => runner.start({ ...spec, machine }, emit);
	return { runner: { ...runner, start }, close: machines.close };
}

/** A login that does nothing, with the same options as ours and no shared connection. */
export async function sshTrue(): Promise<void> {
	const { ssh = "", sshOptions = [] } = (await sshd()).machine;
	await promisify(execFile)("ssh", ["-T", "-o", "BatchMode=yes", ...sshOptions, "--", ssh, "true"]);
}

/** Ends the login that connections share, so that the next one logs in. */
export async function logOut(): Promise<void> {
	await (await sshd()).logOut();
}

let ids = 0;

/** Runs so many events, that far apart. Returns how late each was heard, in milliseconds. */
export async function burst({ runner }: Link, events: number, apartMs = 0): Promise<number[]> {
	const agentId = `burst${++ids}`;
	const spec: RunSpec & RunIdentity = {
		...{ type: "scout", description: "count", task: `${events} ${apartMs}`, cwd: home.path, runner: "process" },
		...{ outlives: true, model: "fake/fake-1", tools: ["read"], limits: {}, origins: {}, warnings: [] },
		...{ agentId, run: 1, artifacts: join(home.path, "near", agentId) },
	};
	const late: number[] = [];
	const { status } = await runner.start(spec, (_event, at = 0) => late.push(Date.now() - at)).settled;
	if (status !== "completed" || late.length !== events) throw new Error(`${status} after ${late.length} events`);
	return late;
}
