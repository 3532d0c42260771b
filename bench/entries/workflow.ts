/** Workflows: what a script costs beside launching the same agents by hand, and how fast a journal is taken up again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
	fileJournal,
	type JournalEvent,
	memoryJournal,
	parseJournal,
	runWorkflow,
	type WorkflowPorts,
} from "@pi-subagents/workflow";
import { type Benchmark, timed } from "../measure.ts";
import { newManager, runOurs, specFor } from "../worlds/spawn.ts";

const AGENTS = 100;
const CALLS = 1_000;
const ENTRIES = 10_000;
const WIDE = { maxAgents: ENTRIES, maxItems: ENTRIES, concurrency: ENTRIES };
const fanOut = (count: number) => `export const meta = { name: "bench", description: "A fan-out" }
return (await parallel(Array.from({ length: ${count} }, (_, index) => () => agent("Item " + index)))).length`;

/** Runs a script to its end with a journal in a file, as in pi. */
async function run(script: string, ports: WorkflowPorts): Promise<void> {
	const dir = mkdtempSync(join(tmpdir(), "bench-workflow-"));
	try {
		const journal = fileJournal(join(dir, "w.workflow.jsonl"), console.error);
		const result = await runWorkflow({
			id: "w",
			script,
			journal,
			ports,
			limits: WIDE,
		}).settled;
		if (result.status !== "completed") throw new Error(JSON.stringify(result));
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

const manager = newManager();
const ask = async () => undefined;
const real: WorkflowPorts = {
	ask,
	async agent(_request, call) {
		const { id, run: number } = manager.spawn(specFor("Look around."));
		call.onLaunched({ agentId: id, run: number });
		const outcome = await manager.wait(id);
		if (outcome.status !== "completed") throw new Error(JSON.stringify(outcome));
		return { status: "completed", text: outcome.text, tokens: 1 };
	},
};
const instant: WorkflowPorts = { ask, agent: async () => ({ status: "completed", text: "done", tokens: 1 }) };

/** A thread that answers each message: what any script in a thread costs. */
async function roundTrips(count: number): Promise<void> {
	const echo =
		'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (text) => parentPort.postMessage(text));';
	const worker = new Worker(echo, { eval: true });
	let left = count;
	await new Promise<void>((resolve) => {
		worker.on("message", () => {
			if (--left === 0) resolve();
		});
		for (let index = 0; index < count; index++) worker.postMessage(`{"prompt":"Item ${index}"}`);
	});
	await worker.terminate();
}

const REPLAYED = ENTRIES / 2;

/** What a finished fan-out left behind, without its end: two entries for each call. */
async function recorded(): Promise<JournalEvent[]> {
	const events: JournalEvent[] = [];
	await runWorkflow({ id: "w", script: fanOut(REPLAYED), journal: memoryJournal(events), ports: instant, limits: WIDE })
		.settled;
	return events.filter(({ type }) => type !== "ended");
}

const nothing: WorkflowPorts = { ask, agent: () => Promise.reject(new Error("An answered agent was asked again.")) };
let kept: Promise<string> | undefined;
const journalText = () => {
	kept ??= recorded().then((events) => events.map((event) => JSON.stringify(event)).join("\n"));
	return kept;
};

/** Through the thread: the script runs again, and every call is answered from the journal. */
async function replay(): Promise<void> {
	const result = await runWorkflow({
		id: "w",
		journal: memoryJournal(parseJournal(await journalText())),
		ports: nothing,
		limits: WIDE,
	}).settled;
	if (result.status !== "completed" || result.value !== REPLAYED) throw new Error(JSON.stringify(result));
}

/** Every line is read, and every call is a message to a thread and its answer. */
async function readAndTrip(): Promise<void> {
	for (const line of (await journalText()).split("\n")) JSON.parse(line);
	await roundTrips(REPLAYED);
}

export const workflows: Benchmark[] = [
	{
		name: `workflow: ${AGENTS} agents from a script, beside manager.spawn`,
		target: 1.2,
		unit: "ms",
		rounds: 7,
		ours: timed("agent() of a script", () => run(fanOut(AGENTS), real)),
		against: timed("manager.spawn", () => runOurs(AGENTS)),
	},
	{
		name: `workflow: ${CALLS} calls and their journal, beside as many messages to a thread`,
		target: 6,
		unit: "ms",
		rounds: 7,
		ours: timed("agent()", () => run(fanOut(CALLS), instant)),
		against: timed("postMessage", () => roundTrips(CALLS)),
	},
	{
		// Beside that, a replayed call is checked, hashed, matched and given a place in the script: three times as much.
		name: `workflow: replay of ${ENTRIES} entries through the thread, beside reading them and as many messages`,
		target: 4,
		unit: "ms",
		rounds: 7,
		ours: timed("replay", replay),
		against: timed("JSON.parse and postMessage", readAndTrip),
	},
];
