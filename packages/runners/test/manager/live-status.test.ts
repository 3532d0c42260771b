/** What an agent does now, in words: fresher than its record, and free while nobody asks. */
import { describe, expect, test } from "vitest";
import type { Audience } from "../../../core/src/index.ts";
import { setUp } from "../../../core/test/fixtures/manager.ts";
import { detachedRunner, type StartedWrapper } from "../../src/detached/index.ts";

const everybody: Audience = { sessionCanAnswer: () => true, userCanAnswer: () => true };

describe("while the model works alone", () => {
	test("its last line stands for two seconds, then it is thinking or writing", () => {
		const { manager, clock, spawn } = setUp();
		const { id, run } = spawn();
		const now = () => manager.activityOf(id);
		expect(now()).toBeUndefined();
		run.emit({ type: "assistant_text", text: "Looking around." });
		clock.advance(1_999);
		expect(now()).toBe("Looking around.");
		clock.advance(1);
		expect(now()).toBe("thinking…");
		run.write({ block: 0, kind: "thinking", offset: 0, text: "Hm" });
		expect(now()).toBe("thinking…");
		run.write({ block: 1, kind: "text", offset: 0, text: "So" });
		expect(now()).toBe("writing…");
		run.emit({ type: "tool_call", callId: "1", tool: "read", args: { path: "a.ts" } });
		clock.advance(60_000);
		expect(now()).toBe("Reading a.ts");
		run.emit({ type: "tool_result", callId: "1", tool: "read", isError: false });
		expect(now()).toBe("Finished reading a.ts");
		clock.advance(2_000);
		expect(now()).toBe("thinking…"); // what it wrote before is over
		run.answer("Done.");
	});

	test("an agent does not think before its machine is reached, and says to which one it connects", async () => {
		const reached = Promise.withResolvers<StartedWrapper>();
		const lost = Promise.withResolvers<{ how: string }>();
		const remote = detachedRunner({ agentDir: "/nowhere" }, { launch: () => reached.promise });
		const { manager, clock, spawn } = setUp({ runners: { remote } });
		const { id } = spawn({ runner: "remote", machine: "b\x1b[2Jox" });
		expect(manager.activityOf(id)).toBe("connecting to box…");
		clock.advance(20_000);
		expect(manager.activityOf(id)).toBe("connecting to box…");
		reached.resolve({ endNow: () => undefined, letGo: () => undefined, ended: lost.promise });
		await expect.poll(() => manager.activityOf(id)).toBe("thinking…");
		lost.resolve({ how: "it was switched off" });
		expect(await manager.wait(id)).toMatchObject({ status: "aborted", by: "lost" });
		expect(manager.activityOf(id)).toBeUndefined();
	});

	test("a retry or a compaction is no thinking", () => {
		const { manager, clock, spawn } = setUp();
		const { id, run } = spawn();
		run.emit({ type: "compacting" });
		clock.advance(30_000);
		expect(manager.activityOf(id)).toBe("Compacting context");
		run.emit({ type: "compacted", ok: true });
		clock.advance(2_000);
		expect(manager.activityOf(id)).toBe("thinking…");
		run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 30_000, error: "busy" });
		clock.advance(20_000);
		expect(manager.activityOf(id)).toContain("Retrying (1 of 3)");
	});

	test("a shutdown leaves no timer, also when a last frame asks", async () => {
		const { manager, clock, spawn } = setUp();
		const { id } = spawn();
		clock.advance(2_000);
		expect(manager.activityOf(id)).toBe("thinking…");
		const before = clock.waiting();
		const ended = manager.shutdown();
		expect(clock.waiting()).toBeLessThan(before);
		const after = clock.waiting();
		manager.activityOf(id);
		expect(clock.waiting()).toBe(after);
		await ended;
	});

	test("nobody is watched before someone asks, nor for long after", () => {
		const { manager, clock, spawn } = setUp();
		const { id, run } = spawn();
		let watchers = 0;
		const { watch } = run;
		run.watch = (tell) => {
			watchers++;
			const stop = watch?.(tell);
			return () => {
				watchers--;
				stop?.();
			};
		};
		clock.advance(10_000);
		expect(watchers).toBe(0);
		for (let second = 0; second < 8; second++) {
			manager.activityOf(id);
			clock.advance(1_000);
		}
		expect(watchers).toBe(1);
		clock.advance(10_000);
		expect([watchers, clock.waiting()]).toEqual([0, 0]);
	});
});

describe("an agent that waits", () => {
	test("names its question and whom it asked, also when the question is passed on", () => {
		const { manager, spawn } = setUp({ audience: everybody });
		const parent = spawn({ type: "Plan", subagents: "*" }, { isBackground: true });
		const child = spawn({}, { parentAgentId: parent.id, isBackground: true });
		void manager.ask(child.id, { question: "Left or\nright?" });
		expect(manager.activityOf(child.id)).toBe("waiting for Plan: Left or right?");
		void manager.wait(child.id, { waiterId: parent.id }); // now the parent cannot take a turn
		expect(child.record()?.waitsFor).toEqual({ who: "session" });
		expect(manager.activityOf(child.id)).toBe("waiting for pi: Left or right?");
		manager.answer(child.id, "left", "session");
		expect(child.record()).not.toHaveProperty("waitsFor");
		void manager.ask(child.id, { question: "Sure?", isForUser: true });
		expect(manager.activityOf(child.id)).toBe("waiting for you: Sure?");
	});
});

describe("a queued agent says why, and its record keeps the reason", () => {
	test("because no slot is free", async () => {
		const { manager, spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second, third] = [spawn(), spawn(), spawn()];
		expect([second, third].map(({ id }) => manager.activityOf(id))).toEqual([
			"waiting for a slot (next)",
			"waiting for a slot (1 ahead)",
		]);
		first.run.answer("one");
		await heard();
		expect(manager.activityOf(third.id)).toBe("waiting for a slot (next)");
		expect([second.record()?.status, third.record()?.queuedFor]).toEqual(["running", "waiting for a slot (1 ahead)"]);
		expect(first.record()).not.toHaveProperty("queuedFor");
	});

	test.each([
		[{ maxPerModel: 1 }, "waiting for a slot on x/a (next, maxPerModel is 1)"],
		[{ maxPerProvider: { x: 1 } }, "waiting for a slot on x (next, maxPerProvider is 1)"],
	])("because of %j", (limits, text) => {
		const { manager, spawn } = setUp({ slots: { ...limits, whenFull: "queue" } });
		spawn({ model: "x/a" });
		expect(manager.activityOf(spawn({ model: "x/a" }).id)).toBe(text);
	});

	test("because its provider asks for a pause, which also holds back those between two turns", async () => {
		const { manager, clock, spawn, heard } = setUp();
		const running = spawn({ model: "x/a" });
		const busy = spawn({ model: "x/a" });
		busy.run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 0, retryAfterMs: 12_000, error: "429" });
		const queued = spawn({ model: "x/b" });
		const passed = running.run.checkpoint?.();
		expect([queued, running].map(({ id }) => manager.activityOf(id))).toEqual([
			"x asks to wait 12s",
			"x asks to wait 12s",
		]);
		clock.advance(9_000);
		expect(manager.activityOf(queued.id)).toBe("x asks to wait 3s");
		clock.advance(20_000);
		await heard();
		expect([await passed, queued.status()]).toEqual(["go", "running"]);
		expect(queued.record()?.queuedFor).toBe("x asks to wait 12s");
	});
});
