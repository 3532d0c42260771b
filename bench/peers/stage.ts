/** A pi with one of the contenders in it, a scripted model, and a probe in its process. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import {
	createPiEnv,
	type ModelServer,
	type PiEnv,
	type PiRpc,
	type Rule,
	startModelServer,
	startRpc,
	startTui,
	type Terminal,
} from "@pi-subagents-dev/testkit";
import { agentFiles } from "./contenders.ts";

/** For each wait: machines get loaded, and some need long. */
const PATIENCE_MS = 120_000;
const probeModule = new URL("../fixtures/probe.mjs", import.meta.url).href;

/** What `fixtures/probe.mjs` tells; the delays are those since it was asked before. */
interface Probe {
	delayP99Ms: number;
	delayMaxMs: number;
	cpuMs: number;
	heapKb: number;
	maxRssMb: number;
}

export interface Stage {
	server: ModelServer;
	env: PiEnv;
	rpc(args?: readonly string[]): PiRpc;
	tui(): Promise<Terminal>;
	/** Asks the probe in a pi of this stage. */
	probe(pid: number | undefined): Promise<Probe>;
	/** Resolves when the model has been asked so many times for something. */
	asked(text: string, count: number): Promise<void>;
}

/** Nothing of it is left when the work is done: whatever a contender has started ends with it. */
export async function onStage<Result>(
	extensions: readonly string[],
	rules: readonly Rule[],
	work: (stage: Stage) => Promise<Result>,
	files: Readonly<Record<string, string>> = agentFiles,
): Promise<Result> {
	const server = await startModelServer({ rules });
	const env = await createPiEnv({
		server,
		extensions,
		agentFiles: files,
		files: { "notes.txt": "Thirty characters in each line.\n".repeat(1_000) },
		variables: { NODE_OPTIONS: `--import=${probeModule}` },
	});
	const target = { env, timeoutMs: PATIENCE_MS };
	try {
		return await work({
			server,
			env,
			rpc: (args = []) => startRpc({ ...target, args }),
			tui: () => startTui(target, { cols: 120, rows: 40 }),
			probe: (pid) => askProbe(env, pid),
			async asked(text, count) {
				const times = () => server.requests.filter(({ lastUserText }) => lastUserText.includes(text)).length;
				await server.nextRequest(() => times() >= count, { timeoutMs: PATIENCE_MS });
			},
		});
	} finally {
		for (const pid of await processesIn(env)) kill(pid);
		await env.cleanup();
		await server.close();
	}
}

async function askProbe(env: PiEnv, pid: number | undefined): Promise<Probe> {
	if (pid === undefined) throw new Error("pi has not started");
	const file = join(env.variables.TMPDIR ?? "", `probe-${pid}.json`);
	await rm(file, { force: true });
	process.kill(pid, "SIGUSR2");
	return until(`the probe in ${pid} answers`, async () => {
		const text = await readFile(file, "utf8").catch(() => undefined);
		return text === undefined ? undefined : JSON.parse(text);
	});
}

/** The first thing that `look` finds. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, patienceMs = PATIENCE_MS): Promise<T> {
	for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await pass(20)) {
		const found = await look();
		if (found !== undefined) return found;
	}
	throw new Error(`waited in vain until ${what}`);
}

/** The processes of a stage, also those that have left their parent: all have its directory in their environment. */
export async function processesIn({ root }: PiEnv): Promise<number[]> {
	if (process.platform !== "linux") return [];
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(
		pids.map(async (pid) => {
			const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
			return environment.includes(root) ? [Number(pid)] : [];
		}),
	);
	return found.flat();
}

/** What a process holds alone, and its share of what it holds with others. */
export async function memoryMbOf(pid: number): Promise<number> {
	const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
	return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1_024;
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended by itself.
	}
}
