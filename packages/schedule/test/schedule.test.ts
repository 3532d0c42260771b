import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextRuns, parseSchedule, ScheduleError } from "../src/index.ts";

const now = Date.UTC(2027, 0, 1, 12, 0, 0);
const at = (text: string, count = 2) =>
	nextRuns(parseSchedule(text, { now, timeZone: "UTC" }), now, count).map((date) => date.toISOString());

describe("what a person may write", () => {
	test.each([
		["90s", ["2027-01-01T12:01:30.000Z", "2027-01-01T12:03:00.000Z"]],
		["1w", ["2027-01-08T12:00:00.000Z", "2027-01-15T12:00:00.000Z"]],
		["+10m", ["2027-01-01T12:10:00.000Z"]],
		["2027-02-01T09:30:00Z", ["2027-02-01T09:30:00.000Z"]],
		["0 9 * * 1", ["2027-01-04T09:00:00.000Z", "2027-01-11T09:00:00.000Z"]],
		["@daily", ["2027-01-02T00:00:00.000Z", "2027-01-03T00:00:00.000Z"]],
	])("%s", (text, expected) => {
		expect(at(text)).toEqual(expected);
	});

	test("a pattern is read in its time zone", () => {
		const schedule = parseSchedule("0 9 * * *", { now, timeZone: "Asia/Tokyo" });
		expect(nextRuns(schedule, now, 1)).toEqual([new Date("2027-01-02T00:00:00Z")]);
	});

	test.each(["", "soon", "0s", "61 * * * *", "2027-13-01", "2020-01-01", "-5m"])(
		"not %j, and the error shows what",
		(text) => {
			expect(() => parseSchedule(text, { now })).toThrow(ScheduleError);
			expect(() => parseSchedule(text, { now })).toThrow(/Examples: /);
		},
	);
});

test("the next runs are later than the moment asked from, and strictly increasing", () => {
	const texts = fc.constantFrom("7s", "5m", "3d", "+10m", "*/5 * * * *", "0 9 * * 1", "@hourly");
	fc.assert(
		fc.property(texts, fc.integer({ min: 0, max: 10 * 365 * 86_400_000 }), (text, later) => {
			const from = now + later;
			const runs = nextRuns(parseSchedule(text, { now, timeZone: "UTC" }), from, 5).map(Number);
			const sorted = [...new Set(runs)].sort((a, b) => a - b);
			expect(runs).toEqual(sorted);
			expect(runs.every((run) => run > from)).toBe(true);
		}),
	);
});
