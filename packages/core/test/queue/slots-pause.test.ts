import { describe, expect, test } from "vitest";
import { bench } from "./slots-timer.ts";

const onB = { model: "b/one" };

describe("a paused provider", () => {
	test("grants nothing until the pause is over, while others go on", () => {
		const { slots, gate, timer, ask, granted } = bench({ maxConcurrent: 3 });
		ask("running");
		gate.pause("a", 20_000);
		expect([ask("x"), ask("y", onB)]).toEqual(["queued", "granted"]);
		slots.release("running");
		timer.advance(19_999);
		expect(granted).toEqual(["running", "y"]);
		expect(slots.snapshot().paused).toEqual([{ provider: "a", untilMs: 20_000 }]);
		timer.advance(5_001);
		expect(granted).toEqual(["running", "y", "x"]);
		expect(slots.snapshot().paused).toEqual([]);
		expect(timer.waiting()).toBe(0);
	});

	test("starts its queue spread over a window, in order, all of them within it", () => {
		const { gate, timer, ask, granted } = bench({});
		gate.pause("a", 20_000);
		for (let index = 1; index <= 9; index++) ask(`x${index}`);
		expect(timer.waiting()).toBe(1);
		timer.advance(20_000);
		const perHalfSecond: number[] = [];
		for (let index = 0; index < 10; index++) {
			const before = granted.length;
			timer.advance(500);
			perHalfSecond.push(granted.length - before);
		}
		expect(granted).toEqual(Array.from({ length: 9 }, (_, index) => `x${index + 1}`));
		expect(Math.max(...perHalfSecond)).toBeLessThanOrEqual(4);
		expect(timer.waiting()).toBe(0);
	});

	test("that is paused again before its turn starts nobody", () => {
		const { slots, gate, timer, ask, granted } = bench({ maxConcurrent: 1 });
		ask("running", onB);
		ask("x");
		gate.pause("a", 4_000); // x had room at its provider and waited for the global limit
		slots.release("running");
		timer.advance(3_999);
		gate.pause("a", 10_000);
		timer.advance(6_000);
		expect(granted).toEqual(["running"]);
		timer.advance(4_000);
		expect(granted).toEqual(["running", "x"]);
	});

	test.each([
		["keeps the turn", 0, 46_000],
		["loses it to a later pause", 60_000, 61_750],
	])("whose turn comes while it is full %s", (_name, laterMs, expectedMs) => {
		const grantedMs: number[] = [];
		const { slots, gate, timer, ask } = bench({ maxPerProvider: 1 }, { onGrant: () => grantedMs.push(timer.now()) });
		ask("w");
		gate.pause("a", 40_000); // and a spread of ten seconds
		ask("x");
		timer.advance(46_000);
		gate.pause("a", laterMs);
		slots.release("w");
		timer.advance(20_000);
		expect(grantedMs).toEqual([expectedMs]);
	});

	test("that was full when it was paused is looked at again when there is room", () => {
		const { slots, gate, timer, ask, granted } = bench({ maxPerProvider: 1 });
		ask("x");
		ask("y");
		gate.pause("a", 4_000);
		slots.release("x");
		timer.advance(10_000);
		expect(granted).toEqual(["x", "y"]);
	});

	test("does not let a newcomer pass when the pause has run out and the timer is late", () => {
		const { gate, timer, ask, granted } = bench({ maxConcurrent: 1 });
		gate.pause("a", 4_000);
		ask("x");
		timer.lag(60_000);
		expect(ask("y")).toBe("queued");
		expect(granted).toEqual(["x"]);
		expect(timer.waiting()).toBe(0);
	});

	test("lets one who takes its slot back go on: it waits at the gate by itself", () => {
		const { slots, gate, ask } = bench({ maxConcurrent: 1 });
		ask("x");
		const takeBack = slots.lend("x");
		gate.pause("a", 5_000);
		takeBack();
		expect(slots.snapshot()).toMatchObject({ running: 1, lent: 0 });
	});

	test("keeps no timer when nobody is queued for it any more", () => {
		const { slots, gate, timer, ask } = bench({});
		gate.pause("a", 5_000);
		expect(timer.waiting()).toBe(0);
		ask("x");
		expect(timer.waiting()).toBe(1);
		slots.release("x");
		expect(timer.waiting()).toBe(0);
	});
});
