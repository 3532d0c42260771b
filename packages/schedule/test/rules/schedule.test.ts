import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeSchedule, nextRuns, parseSchedule, ScheduleError } from "../../src/index.ts";

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

	test("a date without a zone is read in the schedule's, as croner reads what a change of the clocks skips or repeats", () => {
		const berlin = (text: string) => parseSchedule(text, { now, timeZone: "Europe/Berlin" });
		expect(
			[
				...["2027-01-31", "2027-01-31T09:00", "2027-01-31 09:00:30.250", "2027-01-31T09:00:00+05:00"],
				...["2027-03-28T02:30:00", "2027-10-31T02:30:00"],
			].map((text) => nextRuns(berlin(text), now, 1)[0]?.toISOString()),
		).toEqual([
			...["2027-01-30T23:00:00.000Z", "2027-01-31T08:00:00.000Z", "2027-01-31T08:00:30.250Z"],
			...["2027-01-31T04:00:00.000Z", "2027-03-28T01:30:00.000Z", "2027-10-31T00:30:00.000Z"],
		]);
	});

	test.each([
		["", "neither an interval nor a date nor a cron pattern"],
		["soon", "neither an interval nor a date nor a cron pattern"],
		["-5m", "neither an interval nor a date nor a cron pattern"],
		["0 0 0 1 1 * 2027", "5 or 6 fields"],
		["0s", "is zero"],
		["9999w", "more than 100 years"],
		["61 * * * *", "Invalid value for minute: 61"],
		["0 0 30 2 *", "never matches"],
		["@reboot", "not supported"],
		["2027-13-01", "not a date that exists"],
		["2027-02-30", "not a date that exists"],
		["2027-02-01T25:00", "not a time that exists"],
		["2020-01-01", "in the past"],
		["2200-01-01", "more than 100 years away"],
		[`${"1,".repeat(200)}1 * * * *`, "longer than 200 characters"],
	])("not %j, and the error says why and shows what", (text, why) => {
		expect(() => parseSchedule(text, { now })).toThrow(ScheduleError);
		expect(() => parseSchedule(text, { now })).toThrow(why);
		expect(() => parseSchedule(text, { now })).toThrow(/[^.]\. Examples: /);
	});

	test("not what a terminal would obey, neither as a time nor as a zone", () => {
		const hostile = "\u001b[31m\u009b\u202e\u2028 9 * * 1";
		expect(() => parseSchedule(hostile, { now })).toThrow(/^[^\u0000-\u001f\u007f-\u009f\u2028\u202e]+$/);
		expect(() => parseSchedule("5m", { now, timeZone: hostile })).toThrow(
			/^[^\u0000-\u001f\u007f-\u009f\u2028\u202e]+$/,
		);
	});

	test("a cron pattern whose fields line breaks separate, which its description does not have", () => {
		const schedule = parseSchedule("*\r\n0\t9 * * 1", { now });
		expect(schedule).toMatchObject({ kind: "cron", pattern: "* 0 9 * * 1" });
		expect(describeSchedule({ kind: "cron", pattern: "*\r\n0 9 * * 1" })).toMatch(/^[^\u0000-\u001f]+$/);
	});

	test("not in a zone that does not exist", () => {
		expect(() => parseSchedule("@daily", { now, timeZone: "Mars/Base" })).toThrow('"Mars/Base" is not a time zone');
	});
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
