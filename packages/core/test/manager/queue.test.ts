import { cpuMs } from "@pi-subagents-dev/testkit/cpu-time";
import { describe, expect, test } from "vitest";
import { fakeRunner } from "../../src/testing/index.ts";
import { spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

test("what only waits takes no slot, and its agents count as they would alone", () => {
	const runner = fakeRunner();
	const { manager } = setUp({
		runners: { session: runner, workflow: { ...runner, takesNoSlot: true } },
		slots: { maxConcurrent: 1, whenFull: "queue" },
	});
	const workflow = manager.spawn({ ...spec, runner: "workflow" });
	const child = manager.spawn(spec, { parentAgentId: workflow.id, phase: "Review" });
	expect([workflow.status, child.status, child.phase]).toEqual(["running", "running", "Review"]);
	expect(manager.slots()).toMatchObject({ running: 1, queued: 0, lent: 0 });
	manager.abort(workflow.id, { by: "user" });
	expect(manager.slots()).toMatchObject({ running: 0 });
});

describe("when all slots are taken", () => {
	test("agents queue and start in the order they came, foreground first", async () => {
		const { spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second, third] = [spawn({}, { isBackground: true }), spawn({}, { isBackground: true }), spawn()];
		expect([first.status(), second.status(), third.status()]).toEqual(["running", "queued", "queued"]);
		first.run.answer("one");
		await heard();
		expect([first.status(), second.status(), third.status()]).toEqual(["completed", "queued", "running"]);
		third.run.answer("three");
		await heard();
		expect(second.status()).toBe("running");
	});

	test("one that has waited is checked again when its turn comes: it may run with less, or not at all", async () => {
		const rechecked: string[] = [];
		const { runner, spawn, heard } = setUp({
			slots: { maxConcurrent: 1, whenFull: "queue" },
			recheck: (spec) => {
				rechecked.push(spec.task);
				if (spec.task === "Forbidden.") throw new Error("its launcher was removed");
				return { ...spec, tools: [] };
			},
		});
		const [first, second, third] = [spawn({ task: "Now." }), spawn({ task: "Forbidden." }), spawn({ task: "Less." })];
		first.run.answer("one");
		await heard();
		expect([second.status(), third.status()]).toEqual(["failed", "running"]);
		expect(second.record()?.outcome).toEqual({ status: "failed", error: "its launcher was removed" });
		expect(rechecked).toEqual(["Forbidden.", "Less."]);
		expect(runner.runs.map(({ spec }) => [spec.task, spec.tools])).toEqual([
			["Now.", first.run.spec.tools],
			["Less.", []],
		]);
	});

	test("a stop frees the slot at once, also of one that is queued", () => {
		const { manager, runner, spawn } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second, third] = [spawn(), spawn(), spawn()];
		manager.abort(second.id, { by: "user" });
		manager.abort(first.id, { by: "user" });
		expect([first.status(), second.status(), third.status()]).toEqual(["aborted", "aborted", "running"]);
		expect(runner.runs.map((run) => run.spec.agentId)).toEqual([first.id, third.id]);
		expect(manager.slots()).toMatchObject({ running: 1, queued: 0 });
	});

	test("with whenFull: refuse the caller is told, and nothing remains of the launch", () => {
		const { manager, spawn } = setUp({ slots: { maxConcurrent: 1, whenFull: "refuse" } });
		spawn();
		expect(codeOf(() => manager.spawn(spec))).toBe("slots_full");
		expect(manager.store.snapshot().records).toHaveLength(1);
		expect(manager.slots()).toMatchObject({ running: 1, queued: 0 });
	});

	test("limits by provider and model hold, and can be raised while agents wait", () => {
		const { manager, spawn } = setUp({ slots: { maxPerProvider: 1, whenFull: "queue" } });
		const [one, same, other] = [spawn({ model: "x/a" }), spawn({ model: "x/b" }), spawn({ model: "y/a" })];
		expect([one.status(), same.status(), other.status()]).toEqual(["running", "queued", "running"]);
		manager.setSlots({ maxPerProvider: 2, whenFull: "queue" });
		expect(same.status()).toBe("running");
	});

	test("what was said to a queued agent reaches it when it starts", async () => {
		const { manager, spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second] = [spawn(), spawn()];
		manager.steer(second.id, "mind the docs");
		first.run.answer("done");
		await heard();
		expect(second.run.steers).toEqual(["mind the docs"]);
	});
});

test("a parent that waits for its child lends its slot: the last one does not deadlock, four levels deep", async () => {
	const { manager, spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
	const levels = [spawn({ subagents: "*" })];
	for (let depth = 2; depth <= 4; depth++) {
		const parent = levels.at(-1);
		if (!parent) throw new Error("no parent");
		const { id } = manager.scope(parent.id).spawn({ ...spec, subagents: "*" });
		expect(manager.store.record(id)?.status).toBe("queued");
		void manager.scope(parent.id).wait(id);
		expect(manager.store.record(id)?.status).toBe("running");
		const record = () => manager.store.record(id);
		const latest = spawn.bind(undefined);
		levels.push({ ...latest, id, record, status: () => record()?.status } as unknown as (typeof levels)[number]);
	}
	expect(manager.slots()).toMatchObject({ running: 1, lent: 3 });
	await heard();
});

test("one 429 holds back all agents of that provider, and later releases them", async () => {
	const { manager, clock, spawn } = setUp();
	const first = spawn({ model: "x/a" });
	first.run.emit({
		type: "retrying",
		attempt: 1,
		maxAttempts: 3,
		delayMs: 1,
		error: "429 rate limit, retry after 20s",
	});
	const sibling = spawn({ model: "x/b" });
	const stranger = spawn({ model: "y/a" });
	expect([sibling.status(), stranger.status()]).toEqual(["queued", "running"]);
	expect(manager.slots().paused).toEqual([{ provider: "x", untilMs: 20_000 }]);
	clock.advance(19_000);
	expect(sibling.status()).toBe("queued");
	clock.advance(12_000);
	expect(sibling.status()).toBe("running");
	expect(clock.waiting()).toBe(0);
});

test.each([
	["the headers go before the text", "429, retry after 20s", 3_000, 3_000],
	["the text before what is usual", "429, retry after 20s", undefined, 20_000],
	["what is usual comes last", "429", undefined, 5_000],
	["headers count whatever the text says", "Service unavailable", 3_000, 3_000],
	["none of it helps an account that is used up", "429 insufficient_quota", 3_000, undefined],
	["nobody waits for longer than ten minutes", "429", 86_400_000, 600_000],
])("how long a pause lasts: %s", (_what, error, retryAfterMs, untilMs) => {
	const { manager, spawn } = setUp();
	const { run } = spawn({ model: "x/a" });
	const said = retryAfterMs === undefined ? {} : { retryAfterMs };
	run.emit({ type: "assistant_text", text: "", stopReason: "error", error, ...said });
	run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 1, error, ...said });
	expect(manager.slots().paused).toEqual(untilMs === undefined ? [] : [{ provider: "x", untilMs }]);
});

test("a pause lasts as long as it should, whatever the system clock is set to", () => {
	const { clock, spawn } = setUp();
	const first = spawn({ model: "x/a" });
	const error = "429 rate limit, retry after 20s";
	first.run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 1, error });
	const sibling = spawn({ model: "x/b" });
	clock.set(-5 * 3_600_000);
	clock.advance(19_000);
	expect(sibling.status()).toBe("queued");
	clock.advance(12_000);
	expect(sibling.status()).toBe("running");
});

test("an agent that fell back to another provider is held back by that one only", async () => {
	const { manager, clock, spawn } = setUp();
	const agent = spawn({ model: "x/a", fallbackModels: ["y/a"] });
	const trouble = { type: "assistant_text", text: "", stopReason: "error" } as const;
	agent.run.emit({ ...trouble, error: "429 rate limit, retry after 20s" });
	agent.run.emit({ type: "falling_back", from: "x/a", to: "y/a", error: "429" });
	expect(await agent.run.checkpoint?.()).toBe("go");
	agent.run.emit({ ...trouble, error: "429 rate limit, retry after 30s" });
	expect(manager.slots().paused.map(({ provider }) => provider)).toEqual(["x", "y"]);
	const going = agent.run.checkpoint?.();
	clock.advance(60_000);
	expect(await going).toBe("go");
});

test("a thousand queued agents are stopped at once with the agent that launched them, and none of them starts", () => {
	const { manager, runner, clock, spawn } = setUp({ slots: { maxConcurrent: 4, whenFull: "queue" } });
	const parent = spawn({ subagents: "*" });
	const scope = manager.scope(parent.id);
	const ids = Array.from({ length: 1_000 }, () => scope.spawn(spec, { isBackground: true }).id);
	expect(cpuMs(() => manager.abort(parent.id, { by: "user" }))).toBeLessThan(2_000);
	expect(ids.map((id) => manager.store.record(id)?.status)).toEqual(ids.map(() => "aborted"));
	expect(runner.runs).toHaveLength(4);
	expect(manager.slots()).toMatchObject({ running: 0, queued: 0 });
	expect(clock.waiting()).toBe(0);
});

test("a thousand agents through eight slots: all settle, in order, and no timer is left", async () => {
	const started: string[] = [];
	const { manager, clock, spawn, heard } = setUp({}, (run) => {
		started.push(run.spec.agentId);
		setImmediate(() => run.answer("done"));
	});
	const agents = Array.from({ length: 1_000 }, () => spawn({ limits: { timeoutMs: 60_000 } }));
	expect(manager.slots()).toMatchObject({ running: 8, queued: 992 });
	await Promise.all(agents.map(({ id }) => manager.wait(id)));
	await heard();
	expect(started).toEqual(agents.map(({ id }) => id));
	expect(manager.slots()).toEqual({ running: 0, queued: 0, lent: 0, paused: [] });
	expect(clock.waiting()).toBe(0);
});
