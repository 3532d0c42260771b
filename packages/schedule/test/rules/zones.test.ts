/** Patterns in many zones over twenty years, checked by what the system's own calendar says, and croner's documented cases. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextRuns, parseSchedule, type Schedule } from "../../src/index.ts";
import { newestRuns } from "../../src/rules/schedule.ts";

const ZONES = [
	...["UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Lisbon", "Europe/Moscow", "Europe/Istanbul"],
	...["Europe/Kyiv", "Europe/Athens", "Europe/Helsinki", "America/New_York", "America/Chicago", "America/Denver"],
	...["America/Phoenix", "America/Los_Angeles", "America/Anchorage", "America/Adak", "America/Halifax"],
	...["America/St_Johns", "America/Sao_Paulo", "America/Santiago", "America/Asuncion", "America/Bogota"],
	...["America/Caracas", "America/Havana", "America/Mexico_City", "America/Nuuk", "America/Scoresbysund"],
	...["Africa/Cairo", "Africa/Casablanca", "Africa/Johannesburg", "Africa/Lagos", "Asia/Tehran", "Asia/Dubai"],
	...["Asia/Kabul", "Asia/Karachi", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Yangon", "Asia/Shanghai", "Asia/Tokyo"],
	...["Asia/Jerusalem", "Asia/Beirut", "Asia/Gaza", "Australia/Adelaide", "Australia/Sydney", "Australia/Lord_Howe"],
	...["Australia/Eucla", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati", "Pacific/Easter"],
];
const FROM = Date.UTC(2020, 0, 1);
const UNTIL = Date.UTC(2040, 0, 1);
const now = FROM - 1;

/** What a clock on the wall shows there. */
function wall(at: Date, timeZone: string) {
	const parts = new Intl.DateTimeFormat("en-GB", {
		...{ timeZone, hourCycle: "h23", weekday: "short", year: "numeric", month: "numeric", day: "numeric" },
		...{ hour: "numeric", minute: "numeric", second: "numeric" },
	}).formatToParts(at);
	const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
	const number = (type: string) => Number(part(type));
	return {
		...{ second: number("second"), minute: number("minute"), hour: number("hour"), day: number("day") },
		...{ month: number("month"), weekday: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].indexOf(part("weekday")) },
	};
}

test("there are fifty zones at least", () => {
	expect(new Set(ZONES).size).toBeGreaterThanOrEqual(50);
});

const zone = fc.constantFrom(...ZONES);
const moment = fc.integer({ min: FROM, max: UNTIL });
const maybe = (min: number, max: number) => fc.option(fc.integer({ min, max }), { nil: undefined, freq: 2 });
/** Fixed minute and hour, or steps; day, month and weekday if need be. Days that every month has, so that something is due. */
const fields = fc.record({
	minute: fc.oneof(fc.integer({ min: 0, max: 59 }), fc.constantFrom("*", "*/15", "*/7")),
	hour: fc.oneof(fc.integer({ min: 0, max: 23 }), fc.constantFrom("*", "*/6", "1,2,3")),
	day: maybe(1, 28),
	month: maybe(1, 12),
	weekday: maybe(0, 6),
});

const holds = (field: number | string | undefined, value: number) => {
	if (field === undefined || field === "*") return true;
	if (typeof field === "number") return field === value;
	return field.startsWith("*/") ? value % Number(field.slice(2)) === 0 : field.split(",").map(Number).includes(value);
};

test("every run is later than the last and matches its pattern in its zone", () => {
	fc.assert(
		fc.property(fields, zone, moment, ({ minute, hour, day, month, weekday }, timeZone, from) => {
			const pattern = [minute, hour, day ?? "*", month ?? "*", weekday ?? "*"].join(" ");
			const runs = nextRuns(parseSchedule(pattern, { now, timeZone }), from, 5);
			expect(runs).toHaveLength(5);
			let last = from;
			for (const run of runs) {
				expect(run.getTime()).toBeGreaterThan(last);
				last = run.getTime();
				const shown = wall(run, timeZone);
				const isDay =
					day !== undefined && weekday !== undefined
						? shown.day === day || shown.weekday === weekday
						: holds(day, shown.day) && holds(weekday, shown.weekday);
				const isTime = holds(minute, shown.minute) && holds(hour, shown.hour) && shown.second === 0;
				// A fixed time that a change of the clocks skips runs at the first moment after the gap.
				const isAfterGap = typeof minute === "number" && typeof hour === "number" && isGap(run, timeZone);
				expect({
					pattern,
					timeZone,
					run,
					isDay,
					isMonth: holds(month, shown.month),
					isTime: isTime || isAfterGap,
				}).toEqual({
					...{ pattern, timeZone, run, isDay: true, isMonth: true, isTime: true },
				});
			}
		}),
		{ numRuns: 600 },
	);
});

/** Whether the clocks were put forward at this very moment. */
function isGap(at: Date, timeZone: string): boolean {
	const before = wall(new Date(at.getTime() - 1_000), timeZone);
	const after = wall(at, timeZone);
	const seconds = (shown: typeof after) => shown.hour * 3_600 + shown.minute * 60 + shown.second;
	return (seconds(after) - seconds(before) + 86_400) % 86_400 !== 1;
}

const next = (schedule: Schedule, from: number) => nextRuns(schedule, from, 1)[0]?.getTime() ?? Infinity;

test("nothing is left out: what comes between two moments is the same forwards and backwards", () => {
	const patterns = fc.constantFrom(
		"30 2 * * *",
		"*/20 * * * *",
		"0 1,2,3 * * *",
		"15 0 * * 0",
		"0 0 29 2 *",
		"59 23 L * *",
	);
	fc.assert(
		fc.property(patterns, zone, moment, fc.integer({ min: 0, max: 40 }), (pattern, timeZone, from, hours) => {
			const schedule = parseSchedule(pattern, { now, timeZone });
			const through = from + hours * 3_600_000;
			const all: number[] = [];
			for (let run = next(schedule, from); run <= through; run = next(schedule, run)) all.push(run);
			expect(newestRuns(schedule, from, through, 200)).toEqual(all);
			expect(newestRuns(schedule, from, through, 3)).toEqual(all.slice(-3));
		}),
		{ numRuns: 150 },
	);
});

describe("as croner documents it", () => {
	const runs = (pattern: string, timeZone: string, from: string, count: number) =>
		nextRuns(parseSchedule(pattern, { now: Date.parse(from), timeZone }), Date.parse(from), count).map((run) =>
			run.toISOString(),
		);

	test("a fixed time that is skipped runs at the first valid time after the gap, on the same day", () => {
		expect(runs("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", 2)).toEqual([
			...["2027-03-28T01:00:00.000Z", "2027-03-29T00:30:00.000Z"],
		]);
	});

	test("a fixed time that comes twice runs once, the first time", () => {
		expect(runs("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", 2)).toEqual([
			...["2027-10-31T00:30:00.000Z", "2027-11-01T01:30:00.000Z"],
		]);
	});

	test("steps go on through a repeated hour, and leave out a skipped one", () => {
		expect(runs("*/30 * * * *", "Europe/Berlin", "2027-10-30T23:45:00Z", 5)).toEqual([
			...["2027-10-31T00:00:00.000Z", "2027-10-31T00:30:00.000Z", "2027-10-31T01:00:00.000Z"],
			...["2027-10-31T01:30:00.000Z", "2027-10-31T02:00:00.000Z"],
		]);
		expect(runs("30 1,2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", 2)).toEqual([
			...["2027-03-28T00:30:00.000Z", "2027-03-28T23:30:00.000Z"],
		]);
	});

	test.each([
		["a leap day", "0 0 29 2 *", ["2028-02-29", "2032-02-29"]],
		["the last day of a month", "0 0 L 2 *", ["2027-02-28", "2028-02-29"]],
		["the nearest weekday", "0 0 1W 5 *", ["2027-05-03", "2028-05-01"]],
		["the second Friday", "0 0 * 1 FRI#2", ["2027-01-08", "2028-01-14"]],
		["the last Friday", "0 0 * 1 5#L", ["2027-01-29", "2028-01-28"]],
		["a day or a weekday", "0 0 2 1 MON", ["2027-01-02", "2027-01-04"]],
		["a day and a weekday", "0 0 1 * +MON", ["2027-02-01", "2027-03-01"]],
		["Sunday as 0 and as 7", "0 0 * * 7", ["2027-01-03", "2027-01-10"]],
		["a name", "@weekly", ["2027-01-03", "2027-01-10"]],
		["names of any case", "0 0 * jan sun", ["2027-01-03", "2027-01-10"]],
	])("%s", (_what, pattern, days) => {
		expect(runs(pattern, "UTC", "2027-01-01T12:00:00Z", 2)).toEqual(days.map((day) => `${day}T00:00:00.000Z`));
	});

	test("six fields begin with seconds", () => {
		expect(runs("*/20 0 0 * * *", "UTC", "2027-01-01T12:00:00Z", 3)).toEqual(
			["00", "20", "40"].map((second) => `2027-01-02T00:00:${second}.000Z`),
		);
	});

	test("UTC is the zone that croner knows by that name", () => {
		fc.assert(
			fc.property(moment, (from) => {
				const [utc, etc] = ["UTC", "Etc/UTC"].map((timeZone) =>
					nextRuns(parseSchedule("17 3 * * 1", { now, timeZone }), from, 3),
				);
				expect(utc).toEqual(etc);
			}),
		);
	});
});
