/** What tools do that cannot be seen well from outside: claims, questions, agents that are left. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, allAgents, findAgent, findCandidate, Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import type { Delivery } from "@pi-subagents/delivery";
import { unfenced } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { createGetResultTool } from "../../src/get-result-tool.ts";
import { finish } from "../../src/waiting/foreground.ts";
import { createUsageReport } from "../../src/waiting/usage-report.ts";

const spec = sampleSpec;

function setUp() {
	let ids = 0;
	const runner = fakeRunner();
	const manager: Manager = new Manager({
		runners: { session: runner },
		clock: handClock(),
		newId: () => `a${++ids}`,
		audience: { sessionCanAnswer: () => true, userCanAnswer: () => false },
	});
	const claimed: string[] = [];
	const delivery = {
		claim: ({ id }: AgentRecord) => claimed.push(id),
		expect: () => () => undefined,
	} as unknown as Delivery;
	const agents = allAgents(manager, "session");
	const tool = createGetResultTool({
		agents,
		store: manager.store,
		claims: delivery,
		flushLogs: async () => undefined,
	});
	const read = async (agent_id: string, more: object = {}) => {
		const result = await tool.execute("call", { agent_id, ...more }, undefined, undefined, {} as ExtensionContext);
		return result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
	};
	const launch = (more: Partial<RunSpec> = {}) => manager.spawn({ ...spec, ...more }, { isBackground: true });
	const run = (id: string) => runner.runs.findLast(({ spec: { agentId } }) => agentId === id);
	return { manager, agents, runner, claimed, read, launch, run };
}

test("waiting for an agent ends when it asks, and the question is what one reads", async () => {
	const { manager, read, launch } = setUp();
	const { id } = launch();
	const waiting = read(id, { wait: true });
	void manager.ask(id, { question: "Which door?" });
	expect(await waiting).toMatch(/It asks: <(question-\w{12})>Which door\?<\/\1> Answer with reply_subagent\./);
	expect(unfenced(await read(id, { wait: true }))).toContain("It asks: Which door?");
	manager.answer(id, "the left one", "session");
});

test("a result counts as read only when it could be read", async () => {
	const { claimed, read, launch, run, manager } = setUp();
	const { id } = launch({ runsDir: "/dev/null/nowhere" });
	run(id)?.answer("Two doors.");
	await manager.wait(id);
	expect(await read(id)).toContain("Two doors.");
	expect(claimed).toEqual([id]);
});

test("agents that are left go on, and those that had finished are reported", async () => {
	const { agents, manager, launch, run } = setUp();
	const launched = [launch(), launch()].map((record) => ({ record, warnings: [] }));
	const call = new AbortController();
	const waiting = finish(launched, {
		agents,
		store: manager.store,
		signal: call.signal,
		onGivenUp: () => "leave",
		onProgress: () => undefined,
		hasRow: true,
	});
	run("a1")?.answer("The first is done.");
	await manager.wait("a1");
	call.abort();
	await expect(waiting).rejects.toThrow(/No longer waiting for: a2\.[\s\S]*The first is done\./);
	expect(manager.store.record("a2")?.status).toBe("running");
});

test("an agent cannot get by resuming what it may not launch", async () => {
	const { manager, launch, run } = setUp();
	const parent = launch({ subagents: ["scout"] });
	const own = manager.scope(parent.id);
	const child = own.spawn(spec);
	run(child.id)?.answer("done");
	await manager.wait(child.id);
	expect(() => own.resume(child.id, { ...spec, type: "worker" })).toThrow('may not launch "worker". Allowed: scout.');
	expect(own.resume(child.id, { ...spec, model: "fake/two" })).toMatchObject({
		type: "scout",
		model: "fake/two",
		run: 2,
	});
});

test("what agents cost is told once, wherever it was spent", () => {
	const { manager, launch, run } = setUp();
	const ledger = createUsageReport(manager.store);
	const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: 0.25 };
	const [one, two] = [launch(), launch()];
	for (const { id } of [one, two]) run(id)?.emit({ type: "usage", usage });
	expect(ledger.owed()).toMatchObject({ input: 20, output: 10, totalTokens: 30, cost: { total: 0.5 } });
	expect(ledger.owed()).toMatchObject({ input: 0, cost: { total: 0 } });
	run(one.id)?.emit({ type: "usage", usage });
	expect(ledger.owed()).toMatchObject({ input: 10 });
});

test("a cost that the provider reported is told to pi as such", () => {
	const { manager, launch, run } = setUp();
	const ledger = createUsageReport(manager.store);
	const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: 0.25 };
	const { id } = launch();
	run(id)?.emit({ type: "usage", usage: { ...usage, costFromProvider: true } });
	expect(ledger.owed().cost).toMatchObject({ total: 0.25, totalFromProvider: true });
	run(id)?.emit({ type: "usage", usage });
	expect(ledger.owed().cost).not.toHaveProperty("totalFromProvider");
});

test("an agent is found by its id, the beginning of it, or its name, and otherwise the known ones are listed", () => {
	const list = ["ab12cd34", "ab99ef00", "77aa0000"].map((id, index) => ({
		id,
		type: "scout",
		status: index === 2 ? ("waiting" as const) : ("running" as const),
		...(index === 1 ? { name: "Finder" } : {}),
	})) as unknown as AgentRecord[];
	expect(findAgent(list, "ab12cd34").id).toBe("ab12cd34");
	expect(findAgent(list, "77").id).toBe("77aa0000");
	expect(findAgent(list, "finder").id).toBe("ab99ef00");
	expect(() => findAgent(list, "ab")).toThrow('"ab" could be several agents. Known: ab12cd34 (scout, running)');
	expect(() => findAgent(list, "zz")).toThrow('There is no agent "zz". Known: ab12cd34');
	expect(() => findAgent(list, "")).toThrow("There is no agent");
	const waiting = { is: ({ status }: AgentRecord) => status === "waiting", none: "None waits." };
	expect(findCandidate(list, undefined, waiting).id).toBe("77aa0000");
	expect(() => findCandidate(list, undefined, { is: () => true, none: "" })).toThrow("Several agents match");
	expect(() => findCandidate([], undefined, waiting)).toThrow("None waits.");
});
