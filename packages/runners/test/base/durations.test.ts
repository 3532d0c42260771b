/** How long things take, on machines whose time of day is set while they take it. */
import type { ChildEvent } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import { steadyClock, wholeMs } from "../../../core/src/base/clock.ts";
import { type AgentEvent, type AgentRecord, reduce } from "../../../core/src/index.ts";
import { Watchdog } from "../../../core/src/model/watchdog.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { spec } from "../../../core/test/fixtures/events.ts";
import { setUp } from "../../../core/test/fixtures/manager.ts";
import type { Meta } from "../../../runs/src/format/meta.ts";
import { RunTotals } from "../../../runs/src/run-totals.ts";
import { ChildRecord } from "../../src/process/wrapper/child-record.ts";
import { resultOf } from "../../src/process/wrapper/result.ts";

const HOUR = 3_600_000;
const DAY_40 = 40 * 24 * HOUR;

describe.each([
	["forward by an hour", HOUR],
	["back by an hour", -HOUR],
	["forward by forty days", DAY_40],
	["back by forty days", -DAY_40],
])("a time of day that is set %s while an agent works", (_how, jumpMs) => {
	test("changes nothing about how long it took", async () => {
		const { manager, clock, spawn } = setUp();
		clock.set(2 * DAY_40);
		const events: AgentEvent[] = [];
		manager.store.subscribe(({ event }) => events.push(event));
		const agent = spawn();
		clock.advance(2_000.4);
		clock.set(jumpMs);
		agent.run.emit({ type: "turn" });
		clock.advance(1_000);
		expect(manager.elapsedMs(agent.id)).toBe(3_000);
		agent.run.answer("done");
		await manager.wait(agent.id);
		expect(manager.elapsedMs(agent.id)).toBeUndefined();
		const record = manager.store.record(agent.id);
		expect(record).toMatchObject({ status: "completed", durationMs: 3_000 });
		expect(record?.completedAt).toBeGreaterThanOrEqual(record?.startedAt ?? Number.NaN);
		expect(events.every(({ at }) => Number.isInteger(at))).toBe(true);
		// What is read from a log is what was written.
		expect(events.reduce<AgentRecord | undefined>(reduce, undefined)).toEqual(record);
	});

	test("gives no time below zero to one that is rejoined", async () => {
		const { manager, clock, runner } = setUp();
		clock.set(2 * DAY_40);
		const before = clock.now();
		clock.set(jumpMs);
		manager.adopt({ id: "old", run: 1, spec, depth: 1, isBackground: true, queuedAt: before, artifacts: "/runs/old" });
		clock.advance(1_000);
		const elapsed = manager.elapsedMs("old") ?? -1;
		expect(elapsed).toBe(jumpMs < 0 ? 1_000 : jumpMs + 1_000);
		runner.runs[0]?.answer("done");
		const {
			durationMs,
			startedAt = 0,
			completedAt = -1,
		} = (await manager.wait("old")) && { ...manager.store.record("old") };
		expect(durationMs).toBe(elapsed);
		expect(completedAt).toBeGreaterThanOrEqual(startedAt);
	});

	test("changes nothing in the result that a wrapper writes", () => {
		const clock = handClock(2 * DAY_40);
		const steady = steadyClock(clock);
		const meta = { agentId: "a1", run: 1, spec } as Meta;
		const record = new ChildRecord(meta, clock);
		const watchdog = new Watchdog({
			clock: steady,
			limits: {},
			activity: () => record.current,
			onLate: () => undefined,
		});
		watchdog.begin(steady.now());
		clock.advance(2_500.6);
		clock.set(jumpMs);
		const durationMs = watchdog.elapsedMs ?? Number.NaN;
		const outcome = { status: "completed", text: "done" } as const;
		const ended = { meta, outcome, last: undefined, record: record.current, exit: {}, lost: [] };
		expect(resultOf({ ...ended, completedAt: clock.now(), durationMs })).toMatchObject({
			startedAt: 2 * DAY_40,
			completedAt: Math.floor(Math.max(2 * DAY_40, 2 * DAY_40 + 2_500.6 + jumpMs)),
			durationMs: 2_501,
		});
	});
});

test("a result that is made from a log has no time below zero, whatever times the log holds", () => {
	const account = new RunTotals();
	const said: ChildEvent = { type: "turn" };
	account.add({ ...said, at: 9_000.5 });
	const result = account.result({ agentId: "a1", run: 1 }, { status: "aborted", by: "lost" }, 5_000);
	expect(result).toMatchObject({ startedAt: 9_000, completedAt: 9_000, durationMs: 0 });
});

test("a run that never began has no duration, and the next one none of the last", async () => {
	const { manager, spawn } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
	const first = spawn();
	const second = spawn();
	manager.abort(second.id, { by: "user" });
	expect(manager.store.record(second.id)).not.toHaveProperty("durationMs");
	first.run.answer("done");
	await manager.wait(first.id);
	manager.resume(first.id, spec);
	expect(manager.store.record(first.id)).not.toHaveProperty("durationMs");
});

test("whole milliseconds, and never less than none", () => {
	expect([wholeMs(0, 1.5), wholeMs(5, 4), wholeMs(0, Number.NaN), wholeMs(10, 1_000_010)]).toEqual([
		2, 0, 0, 1_000_000,
	]);
});
