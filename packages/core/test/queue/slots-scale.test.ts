/** How much work the slots do, counted in operations so that no machine is too slow for it. */
import { expect, test, vi } from "vitest";
import { SortedList } from "../../src/queue/sorted-list.ts";
import { bench } from "./slots-timer.ts";

const MANY = 10_000;

test("a sorted list compares O(log n) times for each that comes, moves or leaves", () => {
	let compared = 0;
	const keys = new Map<number, number>();
	const keyOf = (item: number) => keys.get(item) ?? 0;
	const list = new SortedList<number>((one, other) => {
		compared++;
		return keyOf(one) < keyOf(other);
	});
	const shuffled = Array.from({ length: MANY }, (_, index) => (index * 7_919) % MANY);
	for (const item of shuffled) {
		keys.set(item, (item * 31) % 997);
		list.add(item);
	}
	for (const item of shuffled) {
		list.remove(item);
		keys.set(item, item);
		list.add(item);
	}
	for (const item of shuffled) if (item % 2 === 0) list.remove(item);
	const drained: number[] = [];
	for (let item = list.first(); item !== undefined; item = list.first()) {
		drained.push(item);
		list.remove(item);
	}
	expect(drained).toEqual(Array.from({ length: MANY / 2 }, (_, index) => 2 * index + 1));
	expect(compared).toBeLessThan(3 * MANY * 2 * Math.log2(MANY));
});

test("ten thousand queued agents drain in order, with a bounded number of list operations for each", () => {
	const operations = [
		vi.spyOn(SortedList.prototype, "add"),
		vi.spyOn(SortedList.prototype, "remove"),
		vi.spyOn(SortedList.prototype, "first"),
		vi.spyOn(SortedList.prototype, "find"),
	];
	const count = () => operations.reduce((sum, { mock }) => sum + mock.calls.length, 0);
	const { slots, ask, granted, timer } = bench({
		maxConcurrent: 8,
		maxPerProvider: { p1: 2 },
		maxPerModel: { "p0/m1": 1 },
	});
	const ids = Array.from({ length: MANY }, (_, index) => `x${index}`);
	const modelOf = (index: number) => `p${index % 3}/m${index % 4}`;
	let most = 0;
	const counted = (work: () => void) => {
		const before = count();
		work();
		most = Math.max(most, count() - before);
	};
	for (const [index, id] of ids.entries())
		counted(() => ask(id, { model: modelOf(index), isForeground: index % 5 === 0 }));
	for (let index = 0; index < granted.length; index++) counted(() => slots.release(granted[index] ?? ""));
	vi.restoreAllMocks();
	expect(new Set(granted)).toEqual(new Set(ids));
	expect(slots.snapshot()).toEqual({ running: 0, queued: 0, lent: 0, paused: [] });
	expect(timer.waiting()).toBe(0);
	// Who is next is a look at the first claim of each model, hence the reads; none of it grows with the queue.
	expect(most).toBeLessThan(150);
	for (let model = 0; model < 12; model++) {
		const mine = granted.map((id) => Number(id.slice(1))).filter((index) => index % 12 === model && index % 5 !== 0);
		expect(mine).toEqual(mine.toSorted((one, other) => one - other));
	}
});
