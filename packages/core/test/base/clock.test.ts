/** A limit on computing: fair on a busy machine, and never without an end. */
import { describe, expect, test } from "vitest";
import { countDown, systemClock } from "../../src/base/clock.ts";
import { handClock } from "../../src/testing/index.ts";

/** A machine on which this process computes for this part of the time. */
function machine({ share }: { share: number }) {
	const clock = handClock();
	let over: number | undefined;
	const limited = { ...clock, computed: () => clock.now() * share };
	const cancel = countDown(limited, 1_000, () => {
		over = clock.now();
	});
	return { clock, cancel, overAt: () => over };
}

describe("a limit on what this process computes", () => {
	test.each([
		["has the machine for itself", 1, 1_000],
		["computes on several cores", 4, 1_000],
		["gets half of it", 0.5, 2_000],
		["gets a sixteenth", 1 / 16, 10_000], // the longest
		["only waits", 0, 10_000],
	])("ends it in time when it %s", (_how, share, expected) => {
		const { clock, overAt } = machine({ share });
		clock.advance(expected - 1);
		expect(overAt()).toBeUndefined();
		clock.advance(1);
		expect(overAt()).toBe(expected);
		expect(clock.waiting()).toBe(0);
	});

	test("is over after its time where only time counts, however long the machine slept in between", () => {
		const clock = handClock();
		let isOver = false;
		countDown(clock, 1_000, () => {
			isOver = true;
		});
		clock.advance(500);
		clock.lag(60_000);
		clock.advance(0); // all timers that were due meanwhile
		expect(isOver).toBe(false);
		clock.advance(500);
		expect(isOver).toBe(true);
	});

	test("can be cancelled at any time", () => {
		const { clock, cancel, overAt } = machine({ share: 0.5 });
		clock.advance(1_500);
		cancel();
		clock.advance(60_000);
		expect([overAt(), clock.waiting()]).toEqual([undefined, 0]);
	});
});

test("the system's clock knows what this process has computed", () => {
	const { computed = () => Number.NaN } = systemClock;
	const before = computed();
	while (computed() < before + 20);
	expect(computed()).toBeGreaterThanOrEqual(before + 20);
});
