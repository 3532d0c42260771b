/**
 * `npm run fleet`: a fleet on this machine, without network and keys: nats-server on the loopback, two workers, a dozen
 * agents in real pi processes with a scripted model. One worker is killed on the way. Without nats-server, one worker
 * over a pipe does the same work.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type AgentRecord, Manager, type RunSpec, systemClock } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { createMachines, type Machine, remoteRunner } from "@pi-subagents/remote";
import { callTool, createPiEnv, otherwise, piUnderTest, say, startModelServer } from "@pi-subagents-dev/testkit";
import { findNatsServer, startEngine } from "../../packages/remote/src/fleet/engine-process.ts";
import { DemoWorker } from "./fleet-worker.ts";

const AGENTS = 12;
const SLOTS = 2;
const DIRS = ["src", "test", "docs", "scripts", "examples", "packages"];
const isFast = process.argv.includes("--fast");
const program = fileURLToPath(new URL("../../packages/remote/dist/worker.js", import.meta.url));
const startedAt = performance.now();

const server = await startModelServer({
	rules: [
		otherwise(({ messages }) => {
			const wait = { gate: sleep(isFast ? 300 : 1_500 + Math.random() * 1_500) };
			const result = messages.findLast(({ role }) => role === "tool");
			if (!result) return callTool("bash", { command: "echo $((RANDOM % 90 + 10)) files" }, wait);
			return { ...say(`I counted ${result.text.trim()}.`), ...wait };
		}),
	],
});
const env = await createPiEnv({ server, models: [{ id: "offline", name: "Offline" }] });
/** What to end, the last one first: also when Ctrl+C ends this. */
const cleanups: (() => Promise<unknown>)[] = [() => server.close(), () => env.cleanup()];
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
	process.once(signal, () => void cleanUp().finally(() => process.exit(130)));
const natsServer = process.argv.includes("--pipe") ? undefined : findNatsServer();
try {
	process.exitCode = natsServer === undefined ? await overPipe() : await overNats(natsServer);
} finally {
	await cleanUp();
}

async function cleanUp(): Promise<void> {
	for (let work = cleanups.pop(); work; work = cleanups.pop()) await work().catch(console.error);
}

async function overNats(found: string): Promise<number> {
	const engine = await startEngine(found, join(env.root, "engine"));
	cleanups.push(() => engine.stop());
	const options = { engine, env, slots: SLOTS, program };
	const workers = [new DemoWorker("anna", options), new DemoWorker("bert", options)];
	cleanups.push(() => Promise.all(workers.map((worker) => worker.end("SIGTERM"))));
	await Promise.all(workers.map((worker) => worker.start()));
	console.log(`A fleet on this machine, without network and keys.

  engine    nats-server ${engine.version} on ${engine.url}
  workers   ${workers.map(({ name }) => `${name} (${SLOTS} slots)`).join(", ")}
  agents    ${AGENTS}, in real pi processes, with a scripted model
`);
	return watch({ nats: engine.url, tokenFile: engine.tokenFile }, workers);
}

async function overPipe(): Promise<number> {
	console.log(`nats-server is not installed, so this is one worker over a pipe, and none is killed.
To see a fleet: sudo apt install nats-server (macOS: brew install nats-server), then run this again.
`);
	return watch(undefined, []);
}

async function watch(machine: Machine | undefined, workers: readonly DemoWorker[]): Promise<number> {
	const [command, ...args] = piUnderTest().command;
	const options = { agentDir: env.agentDir, env: env.variables, pi: { command, args }, worker: program };
	const machines = createMachines(() => (machine ? { fleet: machine } : {}), options);
	const remote = remoteRunner({ agentDir: env.agentDir, linkTo: machines.linkTo, isProjectTrusted: () => false });
	const width = SLOTS * Math.max(1, workers.length);
	let count = 0;
	const manager = new Manager({
		runners: { remote },
		clock: systemClock,
		newId: () => `a${++count}`,
		slots: { maxConcurrent: width, whenFull: "queue" },
	});
	const letGo = systemClock.hold?.();
	try {
		const ids = Array.from({ length: AGENTS }, (_, index) => manager.spawn(specOf(index, machine)).id);
		tell("▶", `${AGENTS} agents are launched; the manager's queue lets ${width} work at a time`);
		const [, victim] = workers;
		const killing = victim && killOnTheWay(victim);
		await Promise.all(ids.map((id) => finished(manager, id, workers)));
		await killing;
		const { records } = manager.store.snapshot();
		return summary(records);
	} finally {
		letGo?.();
		machines.close();
	}
}

function specOf(index: number, machine: Machine | undefined): RunSpec {
	const dir = DIRS[index % DIRS.length] ?? "src";
	return {
		...sampleSpec,
		description: `count ${dir}/`,
		task: `Count the files in ${dir}/.`,
		cwd: env.cwd,
		runner: "remote",
		machine: machine ? "fleet" : "local",
		outlives: true,
		model: `fake/${env.model}`,
		tools: ["bash"],
	};
}

async function finished(manager: Manager, id: string, workers: readonly DemoWorker[]): Promise<void> {
	let where = "";
	const stop = setInterval(async () => {
		for (const worker of workers) {
			if (where !== "" || !(await worker.agents()).includes(id)) continue;
			where = `@${worker.name}`;
			tell("·", `${id.padEnd(4)}${where.padEnd(6)} starts`);
		}
	}, 100);
	const outcome = await manager.wait(id);
	clearInterval(stop);
	const text = outcome.status === "completed" ? outcome.text : outcome.status === "failed" ? outcome.error : outcome.by;
	tell(outcome.status === "completed" ? "✓" : "✗", `${id.padEnd(4)}${where.padEnd(6)} ${text}`);
}

/** While it has agents that work. They go on; the worker that is started in its place takes them up again. */
async function killOnTheWay(worker: DemoWorker): Promise<void> {
	while (server.requests.length < 6 || (await worker.agents()).length === 0) await sleep(50);
	const agents = await worker.agents();
	await worker.end("SIGKILL");
	tell("⚡", `${worker.name} is killed (kill -9) while it has ${agents.join(" and ")}`);
	await sleep(2_000);
	await worker.start();
	tell("↻", `${worker.name} is started again, and finds them at work`);
}

function summary(records: readonly AgentRecord[]): number {
	const completed = records.filter(({ status }) => status === "completed").length;
	const asked = server.requests.length;
	console.log(`
${completed} of ${AGENTS} agents completed, each once: the model was asked ${asked} times, ${2 * AGENTS} were needed.`);
	return completed === AGENTS && asked === 2 * AGENTS ? 0 : 1;
}

function tell(sign: string, text: string): void {
	const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
	console.log(`${seconds.padStart(6)} s  ${sign} ${text}`);
}
