/** Workflows: what a script costs beside launching the same agents by hand, and how fast a journal is taken up again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import {
	fileJournal,
	type JournalEvent,
	parseJournal,
	runWorkflow,
	type WorkflowPorts,
	workflowState,
} from "@pi-subagents/workflow";
import { type Benchmark, timed } from "../measure.ts";
import { newManager, runOurs, specFor } from "../worlds/spawn.ts";

const AGENTS = 100;
const CALLS = 1_000;
const ENTRIES = 10_000;
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
			limits: { maxAgents: ENTRIES, maxItems: ENTRIES, concurrency: ENTRIES },
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

/** The journal of a workflow with so many entries. */
const recorded = (): string => {
	const at = 1;
	const events: JournalEvent[] = [
		{ type: "started", at, id: "w", name: "bench", script: fanOut(1), args: null, seed: "s", budget: null },
	];
	for (let index = 0; index < ENTRIES / 2; index++) {
		const path = `1[${index}]/1`;
		events.push({ type: "called", at, path, kind: "agent", hash: `${index}`, label: `Item ${index}` });
		events.push({ type: "answered", at, path, answer: { ok: true, value: "done" }, tokens: 1 });
	}
	return events.map((event) => `${JSON.stringify(event)}\n`).join("");
};
const text = recorded();

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
		name: `workflow: replay of ${ENTRIES} entries, beside parsing their lines`,
		target: 3,
		unit: "ms",
		rounds: 15,
		ours: timed("workflowState", () => workflowState(parseJournal(text))),
		against: timed("JSON.parse", () => text.split("\n").map((line) => line && JSON.parse(line))),
	},
];
