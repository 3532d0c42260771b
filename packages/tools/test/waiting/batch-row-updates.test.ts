import { Manager, type Store } from "@pi-subagents/core";
import { handClock } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { beginCall, joinBatch } from "../../src/waiting/batch-row-updates.ts";

function setUp(agents: number) {
	const clock = handClock();
	const { store }: { store: Store } = new Manager({ runners: {}, clock, newId: () => "a1" });
	const leave = Array.from({ length: agents }, () => joinBatch(store));
	const call = new AbortController();
	const ended: number[] = [];
	const calls = leave.map((leaveCrowd, index) => {
		const mayEnd = beginCall(store, clock);
		return async () => {
			const ends = mayEnd(call.signal);
			leaveCrowd();
			await ends;
			ended.push(index);
		};
	});
	/** Until all that may have ended did. */
	const pass = async (ms: number) => {
		clock.advance(ms);
		for (let turn = 0; turn < 5; turn++) await undefined;
	};
	return { clock, call, ended, calls, pass };
}

test("a few calls end when their agents do", async () => {
	const { calls, ended, pass } = setUp(4);
	void calls[2]?.();
	await pass(0);
	expect(ended).toEqual([2]);
});

test("many calls end together at the next whole second", async () => {
	const { clock, calls, ended, pass } = setUp(5);
	await pass(1_300 - (clock.now() % 1_000));
	void calls[3]?.();
	void calls[1]?.();
	await pass(699);
	expect(ended).toEqual([]);
	await pass(1);
	expect(ended).toEqual([3, 1]);
	void calls[0]?.();
	await pass(999);
	expect(ended).toHaveLength(2);
	await pass(1);
	expect(ended).toEqual([3, 1, 0]);
});

test("with the last of many all end at once, and no timer is left", async () => {
	const { clock, calls, ended, pass } = setUp(5);
	for (const end of calls) void end();
	await pass(0);
	expect(ended.toSorted()).toEqual([0, 1, 2, 3, 4]);
	expect(clock.waiting()).toBe(0);
});

test("giving up lets all go at once, those that waited and those that still do", async () => {
	const { clock, call, calls, ended, pass } = setUp(6);
	void calls[0]?.();
	await pass(0);
	call.abort();
	void calls[1]?.();
	await pass(0);
	expect(ended.toSorted()).toEqual([0, 1]);
	expect(clock.waiting()).toBe(0);
});
