import { describe, expect, test, vi } from "vitest";
import { RateGate } from "../../src/queue/rate-gate.ts";
import { handClock } from "../../src/testing/index.ts";

function gateWith(...draws: number[]) {
	const timer = handClock();
	const gate = new RateGate({ clock: timer, random: () => draws.shift() ?? 0 });
	const passed: string[] = [];
	const wait = (name: string, provider = "a", signal?: AbortSignal) =>
		gate.whenOpen(provider, signal).then(
			() => passed.push(name),
			(reason: unknown) => passed.push(`${name} ${reason}`),
		);
	const advance = async (ms: number) => {
		timer.advance(ms);
		await new Promise(setImmediate);
	};
	return { timer, gate, passed, wait, advance };
}

describe("the gate", () => {
	test("is open unless a pause closed it, and only for that provider", async () => {
		const { gate, timer, passed, wait, advance } = gateWith();
		gate.pause("b", 5_000);
		void wait("x");
		void wait("y", "b");
		await advance(0);
		expect(passed).toEqual(["x"]);
		expect([gate.pausedUntil("a"), gate.pausedUntil("b")]).toEqual([undefined, 5_000]);
		await advance(5_000);
		expect(passed).toEqual(["x", "y"]);
		expect(timer.waiting()).toBe(0);
	});

	test("lets each go at a moment of its own, with one timer", async () => {
		const { gate, timer, passed, wait, advance } = gateWith(0.9, 0.1, 0.5);
		gate.pause("a", 20_000); // spread over 5 seconds
		for (const name of ["x", "y", "z"]) void wait(name);
		expect(timer.waiting()).toBe(1);
		await advance(20_499);
		expect(passed).toEqual([]);
		await advance(1);
		expect(passed).toEqual(["y"]);
		await advance(2_000);
		expect(passed).toEqual(["y", "z"]);
		await advance(2_000);
		expect(passed).toEqual(["y", "z", "x"]);
		expect(timer.waiting()).toBe(0);
	});

	test("stays closed longer when told so, never shorter", async () => {
		const { gate, passed, wait, advance } = gateWith(0, 0);
		gate.pause("a", 10_000);
		gate.pause("a", 2_000);
		expect(gate.pausedUntil("a")).toBe(10_000);
		void wait("x");
		await advance(9_000);
		gate.pause("a", 30_000);
		await advance(20_999);
		expect(passed).toEqual([]);
		await advance(1);
		expect(passed).toEqual(["x"]);
	});

	test.each([
		["a day", 86_400_000, 600_000],
		["for ever", Number.POSITIVE_INFINITY, 600_000],
		["not a number", Number.NaN, undefined],
		["now", 0, undefined],
		["the past", -1, undefined],
	])("takes no absurd pause: %s", (_name, untilMs, expected) => {
		const { gate } = gateWith();
		gate.pause("a", untilMs);
		expect(gate.pausedUntil("a")).toBe(expected);
	});

	test.each([
		[100, 1_000],
		[20_000, 5_000],
		[600_000, 10_000],
	])("after a pause of %i ms spreads over %i ms", async (pauseMs, spreadMs) => {
		const { gate, passed, wait, advance } = gateWith(0.999_999);
		gate.pause("a", pauseMs);
		void wait("x");
		await advance(pauseMs + spreadMs - 1);
		expect(passed).toEqual([]);
		expect(gate.pauses()).toEqual([]);
		expect(gate.pausedUntil("a")).toBe(pauseMs); // newcomers still get a moment of their own
		await advance(1);
		expect(passed).toEqual(["x"]);
		expect(gate.pausedUntil("a")).toBeUndefined();
	});

	test("forgets who gave up, with the timer and the listener", async () => {
		const { gate, timer, passed, wait, advance } = gateWith();
		gate.pause("a", 5_000);
		const stop = new AbortController();
		const { signal } = stop;
		const added = vi.spyOn(signal, "addEventListener");
		const removed = vi.spyOn(signal, "removeEventListener");
		void wait("x", "a", signal);
		await advance(5_000);
		expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1]);
		gate.pause("a", 20_000);
		void wait("y", "a", signal);
		stop.abort("stopped");
		expect(timer.waiting()).toBe(0);
		void wait("z", "a", signal);
		await advance(60_000);
		expect(passed).toEqual(["x", "y stopped", "z stopped"]);
	});

	test("does not mind a timer that rings early", async () => {
		const { gate, timer } = gateWith();
		const early = new RateGate({
			clock: { now: timer.now, after: (ms, work) => timer.after(ms > 1 ? ms - 1 : ms, work) },
			random: () => 0,
		});
		let startedAt = -1;
		early.pause("a", 1_000);
		early.atTurn("a", () => {
			startedAt = timer.now();
		});
		timer.advance(2_000);
		expect(startedAt).toBe(1_000);
		expect(gate.pauses()).toEqual([]);
	});
});
