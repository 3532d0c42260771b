/** What the row of a workflow says while it runs. */
import type { ChildEvent, RunIdentity } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import type { AgentResult } from "@pi-subagents/workflow";
import { expect, test } from "vitest";
import { newsOf, type WorkflowNews } from "../src/session/news.ts";
import { ORDER, type WorkflowSpec, workflowRunner } from "../src/session/runner.ts";
import { META } from "./support.ts";

/** A workflow whose agents answer when they are told to, and what its row says. */
function started(body: string) {
	const [lines, news] = [[] as string[], [] as WorkflowNews[]];
	const working = new Map<string, (result: AgentResult) => void>();
	const runner = workflowRunner({
		portsFor: () => ({
			agent: ({ prompt }) => new Promise((resolve) => working.set(prompt, resolve)),
			ask: async () => undefined,
		}),
		authorOf: () => "user",
		live: new Map(),
		onEvent: (event, state, id) => news.push(newsOf(event, state, id)),
		onLeft: () => undefined,
		warn: () => undefined,
	});
	const spec = { ...sampleSpec, agentId: "w1", runId: "w1", run: 1, depth: 1, [ORDER]: { script: META + body } };
	const emit = (event: ChildEvent) => event.type === "assistant_text" && lines.push(event.text);
	const run = runner.start(spec as unknown as WorkflowSpec & RunIdentity, emit);
	return {
		lines,
		news,
		run,
		at: (line: string) => expect.poll(() => lines.at(-1)).toBe(line),
		async answer(prompt: string) {
			await expect.poll(() => working.has(prompt)).toBe(true);
			working.get(prompt)?.({ status: "completed", text: "fine", tokens: 1 });
		},
	};
}

test("it names the phases that agents work in, each with its own count", async () => {
	const workflow = started(`
		phase("Find")
		await agent("find")
		await Promise.all(["a", "b"].map(async (each) => {
			await agent("review " + each, { phase: "Review" })
			await agent("refute " + each, { phase: "Refute" })
		}))
		phase("Sum up")
		await agent("sum up")
	`);
	await workflow.at("Find · 0/1 agents");
	await workflow.answer("find");
	await workflow.at("Review · 0/2 agents");
	await workflow.answer("review a");
	await workflow.at("Review 1/2 · Refute 0/1 agents");
	await workflow.answer("review b");
	await workflow.at("Refute · 0/2 agents");
	await workflow.answer("refute b");
	await workflow.at("Refute · 1/2 agents");
	await workflow.answer("refute a");
	await workflow.at("Sum up · 0/1 agents");
	await workflow.answer("sum up");
	await workflow.run.settled;
	expect(workflow.lines).toContain("Refute · 2/2 agents");
	expect(workflow.lines).toContain("Sum up");
	const called = workflow.news.filter(({ type }) => type === "called" || type === "answered");
	const phaseOf = (label: string) => called.filter((each) => each.label === label).map(({ phase }) => phase);
	expect(["find", "review b", "refute a"].map(phaseOf)).toEqual([
		["Find", "Find"],
		["Review", "Review"],
		["Refute", "Refute"],
	]);
});

test("agents of no phase are counted under the name of the workflow", async () => {
	const workflow = started(`await agent("one"); await agent("two")`);
	await workflow.answer("one");
	await workflow.at("test · 1/2 agents");
	await workflow.answer("two");
	await workflow.run.settled;
	expect(workflow.lines.at(-1)).toBe("test · 2/2 agents");
});
