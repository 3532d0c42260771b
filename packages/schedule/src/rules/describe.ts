/** A schedule in words. A pattern without a short description is shown as written. */
import { printable, type Schedule, UNITS } from "./schedule.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
	...["January", "February", "March", "April", "May", "June"],
	...["July", "August", "September", "October", "November", "December"],
];
const NICKNAMES: Record<string, string> = {
	"@yearly": "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly": "0 0 1 * *",
	"@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly": "0 * * * *",
};

/**
 * Describes a schedule in words.
 *
 * @example
 * ```ts
 * describeSchedule(parseSchedule("0 9 * * 1", { now, timeZone: "Europe/Berlin" })); // "every Monday at 09:00 (Europe/Berlin)"
 * ```
 */
export function describeSchedule(schedule: Schedule): string {
	switch (schedule.kind) {
		case "every":
			return every(schedule.ms);
		case "once":
			return `once on ${timeText(schedule.at, schedule.timeZone ?? localZone())}`;
		case "cron": {
			const described = describePattern(schedule.pattern) ?? {
				text: `at "${printable(schedule.pattern)}"`,
				isLocal: true,
			};
			return described.isLocal ? `${described.text} (${schedule.timeZone ?? localZone()})` : described.text;
		}
	}
}

function every(ms: number): string {
	const names = { w: "week", d: "day", h: "hour", m: "minute", s: "second" } as const;
	for (const [unit, name] of Object.entries(names)) {
		const size = UNITS[unit as keyof typeof UNITS];
		if (ms % size === 0) return ms === size ? `every ${name}` : `every ${ms / size} ${name}s`;
	}
	return `every ${ms} milliseconds`;
}

function timeText(at: number, timeZone: string): string {
	const format = new Intl.DateTimeFormat("en-CA", {
		timeZone,
		hourCycle: "h23",
		year: "numeric",
		month: "2-digit",
		day: "2-digit",
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
	});
	const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
	const seconds = part.second === "00" ? "" : `:${part.second}`;
	return `${part.year}-${part.month}-${part.day} at ${part.hour}:${part.minute}${seconds} (${timeZone})`;
}

interface PatternText {
	text: string;
	/** Whether its meaning depends on the time zone. */
	isLocal: boolean;
}

function describePattern(pattern: string): PatternText | undefined {
	const fields = (NICKNAMES[pattern.toLowerCase()] ?? pattern).split(/\s+/);
	const [second = "", minute = "", hour = "", day = "", month = "", weekday = ""] =
		fields.length === 5 ? ["0", ...fields] : fields;
	const isEveryDay = [day, month, weekday].every((field) => field === "*");
	if (isEveryDay && hour === "*") {
		const text = second === "0" ? steps(minute, "minute") : minute === "*" ? steps(second, "second") : undefined;
		if (text !== undefined) return { text, isLocal: false };
		if (minute === "*" && isNumber(second)) return { text: `every minute at second ${second}`, isLocal: false };
		if (isNumber(minute) && second === "0") return { text: hourly("every hour", minute), isLocal: false };
	}
	const byHours = second === "0" && isNumber(minute) ? steps(hour, "hour") : undefined;
	if (isEveryDay && byHours !== undefined) return { text: hourly(byHours, minute), isLocal: true };
	const when = days(day, month, weekday);
	const at = times(hour, minute, second);
	return when === undefined || at === undefined ? undefined : { text: `${when} at ${at}`, isLocal: true };
}

const isNumber = (field: string) => /^\d{1,2}$/.test(field);

const hourly = (text: string, minute: string) => (Number(minute) === 0 ? text : `${text} at minute ${Number(minute)}`);

/** A step that does not divide its hour or day restarts with each, so "every 7 minutes" would be wrong. */
function steps(field: string, unit: "second" | "minute" | "hour"): string | undefined {
	if (field === "*") return `every ${unit}`;
	const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1]);
	const whole = unit === "hour" ? 24 : 60;
	if (!(step > 0) || whole % step !== 0) return undefined;
	return step === 1 ? `every ${unit}` : `every ${step} ${unit}s`;
}

function times(hour: string, minute: string, second: string): string | undefined {
	if (!isNumber(minute) || !isNumber(second) || !hour.split(",").every(isNumber)) return undefined;
	const rest = [minute, ...(Number(second) === 0 ? [] : [second])].map((part) => part.padStart(2, "0")).join(":");
	return list(hour.split(",").map((one) => `${one.padStart(2, "0")}:${rest}`));
}

function days(day: string, month: string, weekday: string): string | undefined {
	if (day === "*" && month === "*") return weekday === "*" ? "every day" : weekdays(weekday);
	if (weekday !== "*") return undefined;
	if (day === "L" && month === "*") return "on the last day of every month";
	if (!isNumber(day)) return undefined;
	if (month === "*") return `on day ${Number(day)} of every month`;
	const name = isNumber(month) ? MONTHS[Number(month) - 1] : MONTHS.find((name) => isShort(name, month));
	return name === undefined ? undefined : `every year on ${Number(day)} ${name}`;
}

function weekdays(field: string): string | undefined {
	const [from, to, ...more] = field.split("-").map(dayName);
	if (from !== undefined && to !== undefined && more.length === 0) return `every ${from} to ${to}`;
	const names = field.split(",").map(dayName);
	return names.every((name) => name !== undefined) ? `every ${list(names)}` : undefined;
}

const dayName = (field: string) =>
	/^[0-7]$/.test(field) ? DAYS[Number(field) % 7] : DAYS.find((name) => isShort(name, field));

const isShort = (name: string, field: string) => name.slice(0, 3).toLowerCase() === field.toLowerCase();

const list = (items: readonly string[]) =>
	items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;

const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
