/** Patience: how long a wait may take, and what it says in the end. */
import { expect, test, vi } from "vitest";
import { graceMs, patienceMs, Signal, slowdown, until, whenImpatient } from "../src/wait.ts";

test.each([
	["nothing else runs", 0, 30_000],
	["every core has one program", 1, 30_000],
	["eight programs want each core", 8, 240_000],
	["hundreds do", 500, 300_000], // a hang must end
])("a wait when %s", (_when, load, expected) => {
	expect(patienceMs(1, load)).toBe(expected);
	expect(patienceMs(3, load)).toBe(3 * expected);
});

test("tests are as patient as this machine is busy", () => {
	expect(patienceMs()).toBeGreaterThanOrEqual(30_000);
	expect(graceMs()).toBeGreaterThanOrEqual(5_000);
	expect(slowdown()).toBeGreaterThanOrEqual(1);
});

test("a machine that became busier meanwhile gets more time", () => {
	vi.useFakeTimers();
	try {
		let patience = 1_000;
		const gaveUp = vi.fn();
		whenImpatient(gaveUp, () => patience);
		patience = 3_000;
		vi.advanceTimersByTime(2_999);
		expect(gaveUp).not.toHaveBeenCalled();
		vi.advanceTimersByTime(1);
		expect(gaveUp).toHaveBeenCalledExactlyOnceWith(3_000);
		whenImpatient(gaveUp)();
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});

test("a wait ends with what it looked for, and a vain one says what that was", async () => {
	let looks = 0;
	expect(await until("the third look", () => (++looks === 3 ? "found" : undefined), 1)).toBe("found");
	vi.useFakeTimers();
	try {
		const vain = expect(until("the moon is green", () => undefined)).rejects.toThrow(/s in vain: the moon is green\.$/);
		await vi.advanceTimersByTimeAsync(20 * 60_000);
		await vain;
		const signal = new Signal();
		const silent = signal.waitFor(() => undefined, { describe: () => "It is dark." });
		const told = expect(silent).rejects.toThrow(/^Gave up after \d+ ms\nIt is dark\.$/);
		await vi.advanceTimersByTimeAsync(20 * 60_000);
		await told;
	} finally {
		vi.useRealTimers();
	}
});
