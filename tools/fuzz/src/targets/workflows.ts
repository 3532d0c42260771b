/** Scripts of workflows, checked and run, and their journals. */
import { strict as assert } from "node:assert";
import {
	checkScript,
	type JournalEvent,
	memoryJournal,
	parseJournal,
	runWorkflow,
	ScriptError,
	workflowState,
} from "@pi-subagents/workflow";
import fc from "fast-check";
import { changedJson, changedText } from "../mutate.ts";
import { parsed, presentable, type Target, target, unpolluted } from "../target.ts";

const SCRIPTS = [
	`export const meta = { name: "review", description: "Reviews", phases: ["Find", { title: "Look" }], onError: "null" } // all
phase("Find")
const files = await agent("Which?", { agentType: "Explore", schema: { type: "array" } })
const found = await pipeline(["a", "b"], (file) => agent("Review " + file), (bug, file) => agent("Refute " + bug, { label: file }))
log(found.length, "found")
return found.filter(Boolean)`,
	`"use strict"
/* first */ export const meta = {
	name: 'x', description: \`y\`, // comment
};
const all = await parallel([() => agent("one"), () => agent("two")])
return { all, at: Date.now(), r: Math.random(), spent: budget.spent() }`,
];

const AT = 1_700_000_000_000;
const JOURNAL = [
	{ type: "started", id: "w1", name: "x", script: SCRIPTS[1], args: null, seed: "s", budget: null, at: AT },
	{ type: "phase", path: "p", text: "One", at: AT },
	{ type: "called", path: "0.0", kind: "agent", hash: "h", label: "one", at: AT },
	{ type: "launched", path: "0.0", agentId: "a1", run: 1, at: AT },
	{ type: "answered", path: "0.0", answer: { ok: true, value: "did one" }, tokens: 3, at: AT },
	{ type: "retried", path: "0.0", at: AT },
	{ type: "moved", path: "0.1", from: "0.0", hash: "h", at: AT },
	{ type: "resumed", at: AT },
	{ type: "ended", status: "completed", value: 1, at: AT },
];
const journals = fc.oneof(
	changedJson([JOURNAL]).map((value) =>
		(Array.isArray(value) ? value : [value]).map((line) => JSON.stringify(line)).join("\n"),
	),
	changedText([JOURNAL.map((line) => JSON.stringify(line)).join("\n")]),
);

async function settles(script: string | undefined, events: JournalEvent[]): Promise<void> {
	const run = runWorkflow({
		id: "w1",
		script,
		journal: memoryJournal(events),
		ports: {
			async agent(request, call) {
				call.onLaunched({ agentId: "a9", run: 1 });
				return { status: "completed", text: `did ${request.prompt}`, tokens: 1 };
			},
			ask: async () => undefined,
		},
		limits: { cpuMs: 500, maxAgents: 20 },
	});
	const result = await run.settled;
	if (result.status === "failed") presentable(result.error, 20_000);
	else if (result.status === "completed") JSON.stringify(result.value);
}

export const workflowTargets: Target[] = [
	target("a script is accepted, or refused with its line", changedText(SCRIPTS), (text) => {
		const script = parsed(() => checkScript(text), ScriptError);
		if (!script) return;
		assert.equal(script.source, text);
		for (const shown of [script.meta.name, script.meta.description]) assert.equal(typeof shown, "string");
		unpolluted();
	}),
	target("a journal of any lines adds up to a state", journals, (text) => {
		const state = workflowState(parseJournal(text));
		for (const [path, call] of state.calls) assert.equal(call.path, path);
		unpolluted();
	}),
];

/** Each needs a thread, so there are fewer of them. */
export const workflowRunTargets: Target[] = [
	target("a changed script ends, in time, with a result or an error", changedText(SCRIPTS), async (text) => {
		if (parsed(() => checkScript(text), ScriptError)) await settles(text, []);
	}),
	target("a workflow is taken up from any journal, and ends", journals, async (text) => {
		const events = parseJournal(text);
		if (workflowState(events).started) await settles(undefined, events);
	}),
];
