import { describe, expect, test } from "vitest";
import { reading, said } from "./events.ts";
import { setUp } from "./manager-fixture.ts";

const usage = (cost: number) => ({
	type: "usage" as const,
	usage: { input: 100, output: 0, cacheRead: 0, cacheWrite: 0, cost },
});

describe("time", () => {
	test("a run that takes too long is stopped, says over what, and keeps what it said", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { timeoutMs: 60_000 } });
		agent.run.emit(said("Halfway."));
		clock.advance(59_999);
		expect(agent.status()).toBe("running");
		clock.advance(1);
		expect(agent.record()?.outcome).toEqual({
			status: "aborted",
			by: "timeout",
			reason: "it ran longer than 1m",
			partialText: "Halfway.",
		});
		expect(agent.run.stops).toEqual([{ by: "timeout", reason: "it ran longer than 1m" }]);
	});

	test("an agent in which nothing happens is stopped; anything that happens gives it new time", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { idleTimeoutMs: 10_000 } });
		for (let step = 0; step < 5; step++) {
			clock.advance(9_000);
			agent.run.emit(reading(`${step}.ts`));
		}
		expect(agent.status()).toBe("running");
		clock.advance(10_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "idle", reason: "nothing happened for 10s" });
	});

	test("one that waits for an answer is spared, and its time begins anew with the answer", async () => {
		const { manager, clock, spawn } = setUp({ audience: { sessionCanAnswer: () => true, userCanAnswer: () => false } });
		const agent = spawn({ limits: { idleTimeoutMs: 10_000, toolTimeoutMs: 20_000 } });
		agent.run.emit({ type: "tool_call", callId: "1", tool: "ask_main_session", args: {} });
		void manager.ask(agent.id, { question: "Which?" });
		clock.advance(3_600_000);
		expect(agent.status()).toBe("waiting");
		manager.answer(agent.id, "The left one.", "session");
		agent.run.emit({ type: "tool_result", callId: "1", tool: "ask_main_session", isError: false });
		clock.advance(9_999);
		expect(agent.status()).toBe("running");
		clock.advance(1);
		expect(agent.record()?.outcome).toMatchObject({ by: "idle" });
	});

	test("a tool that hangs ends the run, and the others are no excuse", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { toolTimeoutMs: 30_000 } });
		agent.run.emit({ type: "tool_call", callId: "slow", tool: "bash", args: { command: "sleep 1d" } });
		clock.advance(20_000);
		agent.run.emit(reading("a.ts"));
		agent.run.emit({ type: "tool_result", callId: "a.ts", tool: "read", isError: false });
		clock.advance(10_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "timeout", reason: "bash ran longer than 30s" });
	});

	test("a queued agent has no time to lose, and a settled one leaves no timer", () => {
		const { manager, clock, spawn } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second] = [spawn({ limits: { timeoutMs: 1_000_000 } }), spawn({ limits: { timeoutMs: 1_000 } })];
		clock.advance(500_000);
		expect(second.status()).toBe("queued");
		manager.abort(first.id, { by: "user" });
		manager.abort(second.id, { by: "user" });
		expect(clock.waiting()).toBe(0);
	});
});

describe("budgets", () => {
	const audience = { sessionCanAnswer: () => true, userCanAnswer: () => true };

	test("one that is used up pauses the agent and asks; yes gives as much again", async () => {
		const { manager, spawn, heard } = setUp({ audience });
		const agent = spawn({ limits: { budgetCost: 0.5 } });
		agent.run.emit(usage(0.3));
		expect(await agent.run.checkpoint?.()).toBe("go");
		agent.run.emit(usage(0.25));
		const going = agent.run.checkpoint?.();
		await heard();
		expect(agent.record()).toMatchObject({
			status: "waiting",
			question: "Agent a1 (scout) has used $0.55 of $0.50. May it go on with as much again? (yes/no)",
		});
		manager.answer(agent.id, "Yes, go on.", "user");
		expect(await going).toBe("go");
		agent.run.emit(usage(0.4));
		expect(await agent.run.checkpoint?.()).toBe("go");
	});

	test("no ends the run, with the reason", async () => {
		const { manager, spawn, heard } = setUp({ audience });
		const agent = spawn({ limits: { budgetTokens: 150 } });
		agent.run.emit(said("So far."));
		agent.run.emit(usage(0));
		agent.run.emit(usage(0));
		const going = agent.run.checkpoint?.();
		await heard();
		manager.answer(agent.id, "no", "session");
		expect(await going).toBe("end");
		expect(agent.record()?.outcome).toEqual({
			status: "aborted",
			by: "budget",
			reason: "it used 200 of 150 tokens",
			partialText: "So far.",
		});
	});

	test("with nobody to ask the budget is the limit", async () => {
		const { spawn } = setUp();
		const agent = spawn({ limits: { budgetCost: 0.1 } });
		agent.run.emit(usage(0.2));
		expect(await agent.run.checkpoint?.()).toBe("end");
		expect(agent.record()?.outcome).toMatchObject({ by: "budget" });
	});

	test("what an agent launches counts towards its own budget", async () => {
		const { manager, runner, spawn } = setUp();
		const parent = spawn({ subagents: "*", limits: { budgetCost: 1 } });
		const child = manager.scope(parent.id).spawn({ ...parent.run.spec, limits: {} });
		const childRun = runner.runs.find((run) => run.spec.agentId === child.id);
		childRun?.emit(usage(1.5));
		expect(await childRun?.checkpoint?.()).toBe("end");
		expect(parent.record()?.outcome).toMatchObject({ by: "budget" });
		expect(manager.store.record(child.id)?.outcome).toMatchObject({ by: "parent" });
	});
});
