/** What scripts get: data, an error that pi keeps it with, and a thrown one where it does not. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { allAgents, Manager } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { createAgentTool } from "../../src/agent-tool.ts";
import { createReplyTool } from "../../src/reply-tool.ts";
import { createStartSubagentTool } from "../../src/start-subagent-tool.ts";
import { createSubagentTool } from "../../src/subagent-tool.ts";

const OLD = { mode: "print" } as ExtensionContext;
const NEW = { mode: "print", executeTool: () => undefined } as unknown as ExtensionContext;
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

function setUp() {
	let ids = 0;
	const runner = fakeRunner();
	const manager = new Manager({ runners: { session: runner }, clock: handClock(), newId: () => `a${++ids}` });
	const agents = allAgents(manager, "session");
	const deps = { agents, store: manager.store, resolve: async () => sampleSpec };
	const subagent = createSubagentTool(deps);
	const agent = createAgentTool({ ...deps, caller: "session", schedule: async () => "Kept." });
	const settle = async (index: number, how: "answer" | "unverified" | "fail") => {
		await expect.poll(() => runner.runs.length).toBeGreaterThan(index);
		if (how === "answer") runner.runs[index]?.answer("Two doors.");
		else if (how === "unverified")
			runner.runs[index]?.settle({
				status: "completed",
				text: "Two doors.",
				verification: { ok: false, problem: "project not trusted" },
			});
		else runner.runs[index]?.settle({ status: "failed", error: "out of credit" });
	};
	return { subagent, agent, settle, agents, manager, runner, resolve: deps.resolve };
}

const task = { preset: "scout", task: "Look." };

test("a completed agent gives its answer", async () => {
	const { subagent, settle } = setUp();
	const call = subagent.execute("c", task, undefined, undefined, NEW);
	await settle(0, "answer");
	expect(await call).toMatchObject({
		structuredContent: { id: "a1", status: "completed", answer: "Two doors.", usage },
	});
	expect(await call).not.toHaveProperty("isError");
});

test("a failed one is an error with data where pi keeps that, and thrown where it does not", async () => {
	for (const make of [
		({ subagent }: ReturnType<typeof setUp>, ctx: ExtensionContext) =>
			subagent.execute("c", task, undefined, undefined, ctx),
		({ agent }: ReturnType<typeof setUp>, ctx: ExtensionContext) =>
			agent.execute("c", { prompt: "Look.", description: "x", run_in_background: false }, undefined, undefined, ctx),
	]) {
		const [older, newer] = [setUp(), setUp()];
		const thrown = make(older, OLD).catch((error: Error) => error.message);
		const returned = make(newer, NEW);
		await older.settle(0, "fail");
		await newer.settle(0, "fail");
		expect(await thrown).toContain("out of credit");
		const { structuredContent, ...result } = (await returned) as unknown as Record<string, unknown>;
		expect(result).toMatchObject({
			isError: true,
			content: [{ type: "text", text: expect.stringContaining("out of credit") }],
		});
		expect(structuredContent).toEqual({ id: "a1", status: "failed", error: "Failed: out of credit", usage });
	}
});

test("of several agents, one that failed keeps the whole from being completed", async () => {
	const { subagent, settle } = setUp();
	const call = subagent.execute("c", { tasks: [task, task] }, undefined, undefined, NEW);
	await settle(0, "answer");
	await settle(1, "fail");
	expect(await call).toMatchObject({
		structuredContent: { status: "failed", usage, agents: [{ status: "completed" }, { status: "failed" }] },
	});
});

test("what is not waited for says so, and has no answer", async () => {
	const { agent } = setUp();
	const call = (more: object) =>
		agent.execute("c", { prompt: "Look.", description: "x", ...more }, undefined, undefined, NEW);
	expect(await call({})).toMatchObject({ structuredContent: { id: "a1", status: "running", usage } });
	expect(await call({ schedule: "5m" })).toMatchObject({ structuredContent: { status: "scheduled", usage } });
});

test("tools declare what scripts get, and which are for models only", () => {
	const { subagent, agent, agents, resolve } = setUp();
	for (const tool of [subagent, agent])
		expect(tool).toMatchObject({ outputSchema: { properties: { status: {}, answer: {}, usage: {}, branch: {} } } });
	for (const tool of [createReplyTool({ agents }), createStartSubagentTool({ agents, resolve })])
		expect(tool).toMatchObject({ exposure: "model-only" });
});

test("an answer that was not verified says so", async () => {
	const { subagent, settle } = setUp();
	const call = subagent.execute("c", task, undefined, undefined, NEW);
	await settle(0, "unverified");
	expect(await call).toMatchObject({
		structuredContent: { status: "completed", verification: "not verified: project not trusted" },
	});
});

test("the details of a call say what its agent and that one's agents cost together", async () => {
	const { subagent, settle, manager, runner } = setUp();
	const call = subagent.execute("c", task, undefined, undefined, NEW);
	await expect.poll(() => runner.runs.length).toBe(1);
	manager.spawn({ ...sampleSpec, subagents: "*" }, { parentAgentId: "a1" });
	for (const [index, cost] of [0.1, 0.3].entries())
		runner.runs[index]?.emit({ type: "usage", usage: { ...usage, cost } });
	await settle(1, "answer");
	await settle(0, "answer");
	expect((await call).details).toMatchObject({ agents: [{ agentId: "a1", cost: 0.1, treeCost: 0.4 }] });
});

test("the details of an agent in the background say so at their top", async () => {
	const { agent } = setUp();
	const params = { prompt: "Look.", description: "look around", run_in_background: true };
	const { details } = await agent.execute("c", params, undefined, undefined, OLD);
	expect(details).toMatchObject({
		agentId: "a1",
		description: sampleSpec.description,
		subagentType: sampleSpec.type,
		status: "background",
	});
});
