/** What callers in JavaScript pass. */
import { expect, test } from "vitest";
import { memoryJobStore, nextRuns, parseSchedule, type Schedule, Scheduler } from "../../src/index.ts";

const at = Date.UTC(2027, 0, 31, 9);

test("a date is as good as its milliseconds", () => {
	const now = new Date(at);
	for (const text of ["90s", "+90s", "@daily"])
		expect(parseSchedule(text, { now, timeZone: "UTC" })).toEqual(parseSchedule(text, { now: at, timeZone: "UTC" }));
	const schedule = parseSchedule("90s", { now });
	expect(nextRuns(schedule, now, 2)).toEqual([new Date(at + 90_000), new Date(at + 180_000)]);
});

test.each([
	["text", () => parseSchedule(undefined as never, { now: at })],
	["now", () => parseSchedule("90s", {} as never)],
	["now", () => parseSchedule("90s", undefined as never)],
	["now", () => parseSchedule("90s", { now: "2027-01-31" as never })],
	["now", () => parseSchedule("90s", { now: new Date("never") })],
	["from", () => nextRuns({ kind: "every", ms: 1, from: 0 }, null as never, 1)],
	["count", () => nextRuns({ kind: "every", ms: 1, from: 0 }, at, undefined as never)],
	["schedule", () => nextRuns("@daily" as unknown as Schedule, at, 1)],
	["schedule", () => nextRuns(undefined as never, at, 1)],
])("anything else is a TypeError that names the argument: %s", (name, call) => {
	expect(call).toThrow(TypeError);
	expect(call).toThrow(new RegExp(`^${name} must be `));
});

test("null is a payload", async () => {
	const scheduler = new Scheduler({ store: memoryJobStore(), onDue: async () => undefined });
	expect(await scheduler.add({ name: "tidy up", schedule: "@daily", payload: null })).toMatchObject({ payload: null });
});
