import { describe, expect, test } from "vitest";
import { isYes } from "../../src/model/budget.ts";
import { fakeRunner } from "../../src/testing/index.ts";
import { reading, said } from "../fixtures/events.ts";
import { setUp } from "../fixtures/manager.ts";

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

	test("changing the system clock makes no agent late, and extends no limit", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { timeoutMs: 60_000, idleTimeoutMs: 10_000 } });
		clock.set(7 * 3_600_000);
		clock.advance(9_999);
		agent.run.emit(reading("a.ts"));
		expect(agent.status()).toBe("running");
		clock.set(-9 * 3_600_000);
		agent.run.emit(reading("b.ts"));
		clock.advance(10_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "idle", reason: "nothing happened for 10s" });
	});

	test("an agent without activity is stopped; any activity restarts its time", () => {
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

	test("one that writes, thinks or whose tool prints is active, though that is no event", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { idleTimeoutMs: 10_000 } });
		agent.run.emit(reading("a.ts"));
		for (let step = 0; step < 50; step++) {
			agent.run.quietMs = 500;
			clock.advance(1_000);
		}
		expect(agent.status()).toBe("running");
		delete agent.run.quietMs;
		clock.advance(10_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "idle" });
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

	test("a tool whose end was never told has ended when the model speaks again", () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { toolTimeoutMs: 30_000 } });
		agent.run.emit({ type: "tool_call", callId: "lost", tool: "bash", args: {} });
		agent.run.emit({ type: "assistant_text", text: "And now?", stopReason: "toolUse" });
		clock.advance(60_000);
		expect(agent.status()).toBe("running");
		agent.run.emit({ type: "tool_call", callId: "slow", tool: "bash", args: {} });
		clock.advance(30_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "timeout" });
	});

	test("a run that keeps its time itself is not judged by what was heard of it", () => {
		const { clock, spawn } = setUp({ runners: { session: { ...fakeRunner(), keepsTime: true } } });
		const agent = spawn({ limits: { timeoutMs: 1_000, idleTimeoutMs: 1_000, toolTimeoutMs: 1_000 } });
		clock.advance(3_600_000);
		expect(agent.status()).toBe("running");
		expect(clock.waiting()).toBe(0);
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
			question: "Agent a1 (scout) has used $0.55 of $0.50. May it use the same amount again? (yes/no)",
		});
		manager.answer(agent.id, "Yes, go on.", "user");
		expect(await going).toBe("go");
		expect(agent.run.granted).toEqual({ budgetCost: 1.05 }); // for a run that goes on without us
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

	/** A parent with a dollar for itself and its two children, who have used it up. */
	function spenders(options: Parameters<typeof setUp>[0] = {}) {
		const world = setUp(options);
		const parent = world.spawn({ subagents: "*", limits: { budgetCost: 1 } });
		const children = [0, 1].map(() => {
			const { id } = world.manager.scope(parent.id).spawn({ ...parent.run.spec, limits: {} });
			const run = world.runner.runs.find((each) => each.spec.agentId === id);
			if (!run) throw new Error("not started");
			run.emit(usage(0.75));
			return { id, run, status: () => world.manager.store.record(id)?.status };
		});
		const [first, second] = children;
		if (!first || !second) throw new Error("no children");
		return { ...world, parent, first, second };
	}

	test("what an agent launches counts towards its own budget", async () => {
		const { manager, parent, first } = spenders();
		expect(await first.run.checkpoint?.()).toBe("end");
		expect(parent.record()?.outcome).toMatchObject({ by: "budget" });
		expect(manager.store.record(first.id)?.outcome).toMatchObject({ by: "parent" });
	});

	test("one question for all who wait for the same purse, asked by the one that stopped for it", async () => {
		const { manager, parent, first, second, heard } = spenders({ audience });
		const going = Promise.all([first.run.checkpoint?.(), second.run.checkpoint?.()]);
		await heard();
		expect([parent.status(), first.status(), second.status()]).toEqual(["running", "waiting", "running"]);
		expect(manager.questions()).toMatchObject([
			{ agentId: first.id, aboutId: parent.id, addressee: { who: "session" } },
		]);
		manager.answer(first.id, "yes", "session");
		expect(await going).toEqual(["go", "go"]);
	});

	test("stopping the one that asks is no refusal: the next one asks", async () => {
		const { manager, parent, first, second, heard } = spenders({ audience });
		void first.run.checkpoint?.();
		const going = second.run.checkpoint?.();
		await heard();
		manager.abort(first.id, { by: "user" });
		await heard();
		expect([parent.status(), second.status()]).toEqual(["running", "waiting"]);
		manager.answer(second.id, "ok", "user");
		expect(await going).toBe("go");
	});

	test("a resumed agent begins with its whole budget", async () => {
		const { manager, spawn, heard } = setUp();
		const agent = spawn({ limits: { budgetCost: 1 } });
		agent.run.emit(usage(0.9));
		agent.run.answer("done");
		await heard();
		manager.resume(agent.id, { ...agent.run.spec, limits: { budgetCost: 1 } });
		agent.run.emit(usage(0.2));
		expect(await agent.run.checkpoint?.()).toBe("go");
	});

	test.each([
		["yes", true],
		["Yes, go on.", true],
		["ok!", true],
		["more than enough, stop", false],
		["ok, stop here", false],
		["yes but only one turn", false],
		["", false],
	])("%j grants more: %s", (answer, expected) => {
		expect(isYes(answer)).toBe(expected);
	});
});

describe("who rightly waits is not too slow", () => {
	test("a parent that waits for its busy child", () => {
		const { manager, runner, clock, spawn } = setUp();
		const parent = spawn({ subagents: "*", limits: { idleTimeoutMs: 60_000, toolTimeoutMs: 60_000 } });
		parent.run.emit({ type: "tool_call", callId: "1", tool: "Agent", args: {} });
		const child = manager.scope(parent.id).spawn({ ...parent.run.spec, limits: {} });
		void manager.scope(parent.id).wait(child.id);
		for (let minute = 0; minute < 10; minute++) {
			clock.advance(30_000);
			runner.runs.at(-1)?.emit(reading(`${minute}.ts`));
		}
		expect(parent.status()).toBe("running");
	});

	test("an agent whose provider wants a pause, and its time begins anew after it", async () => {
		const { clock, spawn, heard } = setUp();
		const agent = spawn({ limits: { idleTimeoutMs: 60_000 } });
		agent.run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 1, error: "429, retry after 120s" });
		const going = agent.run.checkpoint?.();
		clock.advance(150_000);
		expect(await going).toBe("go");
		await heard();
		clock.advance(59_000);
		expect(agent.status()).toBe("running");
		clock.advance(1_000);
		expect(agent.record()?.outcome).toMatchObject({ by: "idle" });
	});
});
