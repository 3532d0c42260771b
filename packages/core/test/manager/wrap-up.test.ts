/** Before a limit ends a run, the agent is asked for its answer. */
import { describe, expect, test } from "vitest";
import { setUp } from "../fixtures/manager.ts";

const usage = (tokens: number) => ({
	type: "usage" as const,
	usage: { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
});
const audience = { sessionCanAnswer: () => true, userCanAnswer: () => true };

describe("time", () => {
	const limits = { timeoutMs: 100_000, wrapUpPercent: 10 };

	test("in its last tenth an agent is asked to finish, once, and the deadline still ends it", async () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits });
		for (let second = 0; second < 89; second++) {
			clock.advance(1_000);
			expect(await agent.run.checkpoint?.()).toBe("go");
		}
		expect(agent.run.wrapUps).toEqual([]);
		clock.advance(1_000);
		expect(await agent.run.checkpoint?.()).toBe("go");
		expect(agent.run.wrapUps).toEqual(["10s of 1m 40s are left"]);
		clock.advance(10_000);
		expect(agent.record()?.outcome).toMatchObject({ status: "aborted", by: "timeout" });
	});

	test("earlier if another turn like the last one would not fit", async () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits });
		clock.advance(40_000);
		await agent.run.checkpoint?.();
		expect(agent.run.wrapUps).toEqual([]);
		clock.advance(40_000);
		await agent.run.checkpoint?.();
		expect(agent.run.wrapUps).toEqual(["20s of 1m 40s are left"]);
	});

	test("not if that is switched off", async () => {
		const { clock, spawn } = setUp();
		const agent = spawn({ limits: { timeoutMs: 100_000 } });
		clock.advance(99_000);
		await agent.run.checkpoint?.();
		expect(agent.run.wrapUps).toEqual([]);
	});
});

describe("budget", () => {
	const limits = { budgetTokens: 1_000, wrapUpPercent: 10 };

	test("with nobody to ask, its last tenth, or turn, is for the answer", async () => {
		const { spawn } = setUp();
		const agent = spawn({ limits });
		for (const [tokens, asked] of [
			[400, 0],
			[200, 0],
			[200, 1],
		] as const) {
			agent.run.emit(usage(tokens));
			expect(await agent.run.checkpoint?.()).toBe("go");
			expect(agent.run.wrapUps).toHaveLength(asked);
		}
		expect(agent.run.wrapUps).toEqual(["200 of 1k tokens are left"]);
		agent.run.emit(usage(300));
		expect(await agent.run.checkpoint?.()).toBe("end");
		expect(agent.record()?.outcome).toMatchObject({ by: "budget", reason: "it used 1.1k of 1k tokens" });
	});

	test("an agent that exceeds its budget in one step still has one turn for its answer", async () => {
		const { spawn } = setUp();
		const agent = spawn({ limits });
		agent.run.emit(usage(5_000));
		expect(await agent.run.checkpoint?.()).toBe("go");
		expect(agent.run.wrapUps).toEqual(["the budget is used up, 5k of 1k tokens"]);
		expect(await agent.run.checkpoint?.()).toBe("end");
	});

	test("if someone can grant more, they are asked when it is used up; after a no the agent is asked to finish", async () => {
		const { manager, spawn, heard } = setUp({ audience });
		const agent = spawn({ limits });
		agent.run.emit(usage(950));
		expect(await agent.run.checkpoint?.()).toBe("go");
		expect(agent.run.wrapUps).toEqual([]);
		agent.run.emit(usage(100));
		const going = agent.run.checkpoint?.();
		await heard();
		manager.answer(agent.id, "no", "user");
		expect(await going).toBe("go");
		expect(agent.run.wrapUps).toHaveLength(1);
		agent.run.answer("So far.");
		await heard();
		expect(agent.status()).toBe("completed");
	});

	test("all who work on a used-up budget finish, each with a turn of its own", async () => {
		const { manager, runner, spawn } = setUp();
		const parent = spawn({ subagents: "*", limits });
		const runs = [0, 1].map(() => {
			const { id } = manager.scope(parent.id).spawn({ ...parent.run.spec, limits: {} });
			return runner.runs.find((each) => each.spec.agentId === id);
		});
		const [first, second] = runs;
		first?.emit(usage(2_000));
		expect(await first?.checkpoint?.()).toBe("go");
		expect([first, second, parent.run].map((run) => run?.wrapUps.length)).toEqual([1, 1, 1]);
		expect(await first?.checkpoint?.()).toBe("end"); // it did not answer
		expect(parent.status()).toBe("running");
		expect(await second?.checkpoint?.()).toBe("go");
		expect(await parent.run.checkpoint?.()).toBe("go");
		expect(await parent.run.checkpoint?.()).toBe("end");
		expect(parent.record()?.outcome).toMatchObject({ by: "budget" });
	});
});

describe("a silent agent", () => {
	const limits = { stalledAfterMs: 120_000 };

	test("is shown as stalled, until something happens", () => {
		const { manager, clock, spawn } = setUp();
		const agent = spawn({ limits });
		agent.run.emit({ type: "tool_call", callId: "1", tool: "bash", args: { command: "make" } });
		clock.advance(119_999);
		expect(manager.activityOf(agent.id)).not.toMatch(/stalled/);
		clock.advance(1);
		expect(manager.activityOf(agent.id)).toMatch(/^stalled: nothing for 2m · .*make/);
		expect(agent.status()).toBe("running");
		agent.run.emit({ type: "tool_result", callId: "1", tool: "bash", isError: false });
		expect(manager.activityOf(agent.id)).not.toMatch(/stalled/);
	});

	test("is not stalled while it writes, waits for an answer, or without that limit", async () => {
		const { manager, clock, spawn } = setUp({ audience });
		const writing = spawn({ limits });
		const asking = spawn({ limits });
		const other = spawn();
		const turn = { type: "turn" as const };
		for (const { run } of [writing, asking, other]) run.emit(turn);
		void manager.ask(asking.id, { question: "Which?" });
		for (let second = 0; second < 200; second++) {
			clock.advance(1_000);
			writing.run.quietMs = 0;
			manager.activityOf(writing.id);
		}
		for (const { id } of [writing, asking, other]) expect(manager.activityOf(id) ?? "").not.toMatch(/stalled/);
		writing.run.quietMs = 121_000;
		clock.advance(121_000);
		expect(manager.activityOf(writing.id)).toMatch(/^stalled/);
	});
});
