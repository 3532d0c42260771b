import { expect, test } from "vitest";
import { describeSchedule, parseSchedule } from "../../src/index.ts";

const now = Date.UTC(2027, 0, 1, 12);

test.each([
	["5m", "every 5 minutes"],
	["1h", "every hour"],
	["90s", "every 90 seconds"],
	["1w", "every week"],
	["+10m", "once on 2027-01-01 at 13:10 (Europe/Berlin)"],
	["2027-01-31T09:00:30", "once on 2027-01-31 at 09:00:30 (Europe/Berlin)"],
	["0 9 * * 1", "every Monday at 09:00 (Europe/Berlin)"],
	["30 0 9 * * MON,thu", "every Monday and Thursday at 09:00:30 (Europe/Berlin)"],
	["0 9,17 * * 1-5", "every Monday to Friday at 09:00 and 17:00 (Europe/Berlin)"],
	["@daily", "every day at 00:00 (Europe/Berlin)"],
	["@weekly", "every Sunday at 00:00 (Europe/Berlin)"],
	["@monthly", "on day 1 of every month at 00:00 (Europe/Berlin)"],
	["@yearly", "every year on 1 January at 00:00 (Europe/Berlin)"],
	["@hourly", "every hour"],
	["15 10 L * *", "on the last day of every month at 10:15 (Europe/Berlin)"],
	["0 8 24 dec *", "every year on 24 December at 08:00 (Europe/Berlin)"],
	["* * * * *", "every minute"],
	["*/5 * * * *", "every 5 minutes"],
	["*/10 * * * * *", "every 10 seconds"],
	["20 * * * * *", "every minute at second 20"],
	["5 * * * *", "every hour at minute 5"],
	["30 */6 * * *", "every 6 hours at minute 30 (Europe/Berlin)"],
	["*/7 * * * *", 'at "*/7 * * * *" (Europe/Berlin)'],
	["0 9 * * 5#2", 'at "0 9 * * 5#2" (Europe/Berlin)'],
	["0 9 1 * 1", 'at "0 9 1 * 1" (Europe/Berlin)'],
])("%s", (text, said) => {
	expect(describeSchedule(parseSchedule(text, { now, timeZone: "Europe/Berlin" }))).toBe(said);
});

test("without a zone of its own a schedule is told in the machine's", () => {
	const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
	expect(describeSchedule(parseSchedule("@daily", { now }))).toBe(`every day at 00:00 (${timeZone})`);
});
