import { Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import type { ChildEvent } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import { followProgress } from "../../src/waiting/progress-feed.ts";

const spec: RunSpec = { ...sampleSpec, description: "look", task: "Look." };

function setUp({ hasRow = false } = {}) {
	const runner = fakeRunner();
	const timer = handClock();
	const manager = new Manager({ runners: { session: runner }, clock: timer, newId: () => "a1" });
	const { id } = manager.spawn(spec);
	const told: (readonly string[])[] = [];
	const feed = followProgress(manager.store, id, (lines) => told.push(lines), { clock: timer, hasRow });
	const read = (path: string): ChildEvent => ({ type: "tool_call", callId: path, tool: "read", args: { path } });
	const run = runner.runs[0];
	if (!run) throw new Error("not started");
	return { manager, run, timer, told, feed, read };
}

describe("a feed", () => {
	test("that begins late shows the line of what the agent is doing", () => {
		const { manager, run, timer, read } = setUp();
		run.emit(read("a.ts"));
		const late: (readonly string[])[] = [];
		followProgress(manager.store, "a1", (lines) => late.push(lines), { clock: timer });
		timer.advance(0);
		expect(late).toEqual([["Reading a.ts"]]);
	});

	test("tells at once, then at most ten times a second, and never an old line twice", () => {
		const { run, timer, told, read } = setUp();
		timer.advance(0);
		run.emit(read("a.ts"));
		timer.advance(0);
		expect(told).toEqual([["Starting"], ["Reading a.ts"]]);
		run.emit(read("b.ts"));
		run.emit(read("c.ts"));
		timer.advance(99);
		expect(told).toHaveLength(2);
		timer.advance(1);
		expect(told.at(-1)).toEqual(["Reading a.ts", "Reading b.ts", "Reading c.ts"]);
		run.emit({ type: "turn" });
		run.emit({ type: "usage", usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } });
		timer.advance(899);
		expect(told).toHaveLength(3);
	});

	test("tells at every whole second when nothing happens, so that the clocks on the screen move together", () => {
		const { run, timer, told, read } = setUp();
		timer.advance(300);
		run.emit(read("a.ts"));
		timer.advance(0);
		expect(told).toHaveLength(2);
		timer.advance(699);
		expect(told).toHaveLength(2);
		timer.advance(1);
		expect(told).toHaveLength(3);
		timer.advance(3_000);
		expect(told).toHaveLength(6);
	});

	test("keeps the last few lines", () => {
		const { run, timer, told, read } = setUp();
		for (let index = 1; index <= 20; index++) run.emit(read(`${index}.ts`));
		timer.advance(0);
		expect(told.at(-1)).toEqual([17, 18, 19, 20].map((index) => `Reading ${index}.ts`));
	});

	test("says nothing after it was closed, and leaves no timer", () => {
		const { run, timer, told, feed, read } = setUp();
		run.emit(read("a.ts"));
		feed.close();
		timer.advance(1_000);
		run.emit(read("b.ts"));
		expect([told, timer.waiting()]).toEqual([[], 0]);
	});

	test("of many tells its news with all others once a second, and leaves the clock to the tree", () => {
		const { manager, run, timer, told, read } = setUp();
		const others = Array.from({ length: 4 }, () =>
			followProgress(manager.store, "a1", () => undefined, { clock: timer }),
		);
		timer.advance(0);
		timer.advance(5_300);
		expect(told).toEqual([["Starting"]]);
		run.emit(read("a.ts"));
		run.emit(read("b.ts"));
		timer.advance(1_000 - (timer.now() % 1_000) - 1);
		expect(told).toHaveLength(1);
		timer.advance(1);
		expect(told.at(-1)).toEqual(["Reading a.ts", "Reading b.ts"]);
		for (const other of others) other.close();
		run.emit(read("c.ts"));
		timer.advance(999);
		expect(told).toHaveLength(2); // the rows of the others are still there
		timer.advance(1);
		expect([told.length, timer.waiting()]).toEqual([3, 0]);
	});

	test("of many with a row of its own waits until there is something to say", () => {
		const { manager, run, timer, told, read } = setUp({ hasRow: true });
		for (let count = 0; count < 4; count++) followProgress(manager.store, "a1", () => undefined, { clock: timer });
		timer.advance(0);
		timer.advance(5_300);
		expect(told).toEqual([]);
		run.emit(read("a.ts"));
		timer.advance(999);
		expect(told).toEqual([["Reading a.ts"]]);
	});

	test("that follows when all of many have been closed has a clock again", () => {
		const { manager, timer, told, feed } = setUp();
		const others = Array.from({ length: 4 }, () =>
			followProgress(manager.store, "a1", () => undefined, { clock: timer }),
		);
		for (const each of [feed, feed, ...others]) each.close();
		followProgress(manager.store, "a1", (lines) => told.push(lines), { clock: timer });
		timer.advance(0);
		timer.advance(3_000);
		expect(told).toHaveLength(4);
	});
});
