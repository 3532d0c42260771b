/**
 * When something is due: a cron pattern, an interval or a single time. Pure: the current time is an argument.
 * croner evaluates cron patterns, including time zones and daylight saving.
 */
import { Cron } from "croner";

export type Schedule =
	| { kind: "cron"; pattern: string; timeZone?: string }
	| { kind: "every"; ms: number; from: number }
	| { kind: "once"; at: number; timeZone?: string };

/** Says what is wrong with a schedule, with valid examples. */
export class ScheduleError extends Error {
	override readonly name = "ScheduleError";

	constructor(message: string) {
		super(printable(message));
	}
}

/** What a caller wrote, without what a terminal would obey. */
export function printable(text: string): string {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
}

export interface ParseOptions {
	/** The current time: milliseconds since the epoch, or a date. */
	now: number | Date;
	/** IANA time zone for cron patterns and for dates without a zone. Default: the machine's. */
	timeZone?: string;
}

const EXAMPLES = `Examples: "0 9 * * 1" (cron), "@daily", "5m" (interval), "+10m" (once, from now), "2027-01-31T09:00:00Z" (once).`;

export const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_TEXT = 200;
/** Anything later is a typing mistake. */
const MAX_AHEAD_MS = 100 * 366 * UNITS.d;
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Parses a schedule as a person writes it. Throws `ScheduleError`.
 *
 * @example
 * ```ts
 * const schedule = parseSchedule("30m", { now: Date.now() });
 * nextRuns(schedule, Date.now(), 3);
 * ```
 */
export function parseSchedule(text: string, options: ParseOptions): Schedule {
	if (typeof text !== "string") throw notA("text", "a string", text);
	const now = milliseconds("now", options?.now);
	const timeZone = options.timeZone ?? undefined;
	const wanted = text.trim();
	if (wanted.length > MAX_TEXT) throw wrong(`${wanted.slice(0, 40)}…`, `is longer than ${MAX_TEXT} characters`);
	if (timeZone !== undefined) checkZone(timeZone);
	const [, plus, amount, unit] = /^(\+)?(\d{1,9})([smhdw])$/.exec(wanted) ?? [];
	if (amount !== undefined && unit !== undefined) {
		const ms = Number(amount) * UNITS[unit as keyof typeof UNITS];
		if (ms === 0) throw wrong(text, "is zero");
		if (ms > MAX_AHEAD_MS) throw wrong(text, "is more than 100 years");
		return plus ? { kind: "once", at: now + ms, ...zone(timeZone) } : { kind: "every", ms, from: now };
	}
	if (/^\d{4}-/.test(wanted)) return { kind: "once", at: parseMoment(wanted, now, timeZone), ...zone(timeZone) };
	return parseCron(wanted.replace(/\s+/g, " "), now, timeZone);
}

/** The next due times after `from`, which is milliseconds since the epoch or a date; earliest first, at most `count`. */
export function nextRuns(schedule: Schedule, from: number | Date, count: number): Date[] {
	if (!KINDS.includes(schedule?.kind)) throw notA("schedule", "what parseSchedule returns", schedule);
	if (!Number.isSafeInteger(count)) throw notA("count", "a whole number", count);
	return nextRunsAfter(schedule, milliseconds("from", from), count);
}

const KINDS: readonly unknown[] = ["cron", "every", "once"] satisfies Schedule["kind"][];

function nextRunsAfter(schedule: Schedule, from: number, count: number): Date[] {
	switch (schedule.kind) {
		case "once":
			return schedule.at > from && count > 0 ? [new Date(schedule.at)] : [];
		case "every": {
			const past = Math.max(0, Math.floor((from - schedule.from) / schedule.ms));
			return Array.from(
				{ length: Math.max(0, count) },
				(_, index) => new Date(schedule.from + (past + 1 + index) * schedule.ms),
			);
		}
		case "cron":
			return nextMatches(pattern(schedule.pattern, schedule.timeZone), from, count).map((run) => new Date(run));
	}
}

/** Callers in JavaScript pass both. */
function milliseconds(name: string, value: unknown): number {
	const ms = value instanceof Date ? value.getTime() : value;
	if (typeof ms === "number" && !Number.isNaN(ms)) return ms;
	throw notA(name, "a Date or milliseconds since the epoch", value);
}

function notA(name: string, wanted: string, value: unknown): TypeError {
	const given = value instanceof Date ? "an invalid Date" : value === null ? "null" : typeof value;
	return new TypeError(`${name} must be ${wanted}, not ${given}.`);
}

/** The due times after `after` and up to `through`: the newest `most` of them, earliest first. */
export function newestRuns(schedule: Schedule, after: number, through: number, most: number): number[] {
	switch (schedule.kind) {
		case "once":
			return schedule.at > after && schedule.at <= through ? [schedule.at] : [];
		case "every": {
			const last = Math.floor((through - schedule.from) / schedule.ms);
			const first = Math.max(1, Math.floor((after - schedule.from) / schedule.ms) + 1, last - most + 1);
			return Array.from(
				{ length: Math.max(0, last - first + 1) },
				(_, at) => schedule.from + (first + at) * schedule.ms,
			);
		}
		case "cron": {
			const known = pattern(schedule.pattern, schedule.timeZone);
			const next = nextMatches(known, after, most + 1, through);
			if (next.length <= most) return next;
			// Backwards from the end: a pattern for every second has millions of due times in a year.
			const wholeSecond = Math.floor(through / 1_000) * 1_000 + 1_000;
			const runs = known.cron.previousRuns(most + 1, new Date(wholeSecond)).map(Number);
			return runs
				.filter((run) => run > after && run <= through)
				.sort((a, b) => a - b)
				.slice(-most);
		}
	}
}

/** Whether a value from a file is a valid schedule. */
export function isSchedule(value: unknown): value is Schedule {
	const { kind, pattern: text, timeZone, ms, from, at } = (value ?? {}) as Record<string, unknown>;
	if (timeZone !== undefined && typeof timeZone !== "string") return false;
	if (kind === "every") return Number.isSafeInteger(ms) && Number(ms) >= UNITS.s && Number.isSafeInteger(from);
	if (kind === "once") return Number.isSafeInteger(at) && Math.abs(Number(at)) <= 8.64e15;
	if (kind !== "cron" || typeof text !== "string" || text.length > MAX_TEXT) return false;
	try {
		pattern(text, timeZone);
		return true;
	} catch {
		return false; // the reason matters only when a schedule is written
	}
}

function parseMoment(text: string, now: number, timeZone: string | undefined): number {
	const [, year, month, day, minutes = "00:00", seconds = ":00", fraction = "", offset] = MOMENT.exec(text) ?? [];
	// Otherwise a day that the month does not have would become one of the next month.
	const isDay = new Date(`${year}-${month}-${day}T00:00:00Z`).toJSON()?.startsWith(`${year}-${month}-${day}`);
	if (!isDay) throw wrong(text, "is not a date that exists, written like 2027-01-31T09:00:00");
	const local = `${year}-${month}-${day}T${minutes}${seconds}`;
	const at = offset === undefined ? inZone(local, timeZone) + Number(`0${fraction}`) * 1_000 : Date.parse(text);
	if (Number.isNaN(at)) throw wrong(text, "is not a time that exists");
	if (at <= now) throw wrong(text, `is in the past: it is ${new Date(now).toISOString()}`);
	if (at > now + MAX_AHEAD_MS) throw wrong(text, "is more than 100 years away");
	return at;
}

/** croner decides about local times that a daylight saving change skips or repeats. */
function inZone(local: string, timeZone: string | undefined): number {
	try {
		return pattern(local, timeZone).cron.nextRun(new Date(0))?.getTime() ?? Number.NaN;
	} catch {
		return Number.NaN; // the caller reports it with the original text
	}
}

function parseCron(text: string, now: number, timeZone: string | undefined): Schedule {
	const fields = text.split(/\s+/).length;
	if (!text.startsWith("@") && (fields < 5 || fields > 6)) {
		throw wrong(text, "is neither an interval nor a date nor a cron pattern of 5 or 6 fields");
	}
	let next: number | undefined;
	try {
		[next] = nextMatches(pattern(text, timeZone), now, 1);
	} catch (error) {
		throw wrong(text, `is not a schedule: ${String(error).replace(/^(?:\w+: )+|\.$/g, "")}`);
	}
	if (next === undefined) throw wrong(text, "never matches a date");
	return { kind: "cron", pattern: text, ...zone(timeZone) };
}

interface Pattern {
	cron: Cron;
	/** The last results: there is no match between the two times. Many jobs share a pattern. */
	found: { after: number; next: number }[];
}

/** Creating a pattern costs more than evaluating it, and each needs much memory, so a limited number is cached. */
const patterns = new Map<string, Pattern>();
const MAX_PATTERNS = 200;
const MAX_FOUND = 4;

function pattern(text: string, timeZone: string | undefined): Pattern {
	const key = `${timeZone ?? ""} ${text}`;
	const known = patterns.get(key);
	if (known) return known;
	if (timeZone !== undefined) checkZone(timeZone);
	// Equivalent for croner, but without a time zone lookup for every date.
	const where = timeZone === "UTC" ? { utcOffset: 0 } : timeZone === undefined ? {} : { timezone: timeZone };
	const made = { cron: new Cron(text, { mode: "5-or-6-parts", ...where }), found: [] };
	const [oldest] = patterns.keys();
	if (patterns.size >= MAX_PATTERNS && oldest !== undefined) patterns.delete(oldest);
	patterns.set(key, made);
	return made;
}

function nextMatches({ cron, found }: Pattern, from: number, count: number, through = Infinity): number[] {
	const runs: number[] = [];
	for (let after = from; runs.length < count; ) {
		const known = found.find((span) => span.after <= after && after < span.next);
		const next = known?.next ?? cron.nextRun(new Date(after))?.getTime();
		if (next === undefined) break;
		if (!known) found.unshift({ after, next });
		found.length = Math.min(found.length, MAX_FOUND);
		if (next > through) break;
		runs.push(next);
		after = next;
	}
	return runs;
}

const zones = new Set<string>();

function checkZone(timeZone: string): void {
	if (zones.has(timeZone)) return;
	try {
		new Intl.DateTimeFormat("en", { timeZone });
	} catch {
		throw new ScheduleError(
			`"${timeZone.slice(0, 60)}" is not a time zone. Examples: "Europe/Berlin", "America/New_York", "UTC".`,
		);
	}
	zones.add(timeZone);
}

const zone = (timeZone: string | undefined) => (timeZone === undefined ? {} : { timeZone });

const wrong = (text: string, why: string) => new ScheduleError(`"${text}" ${why}. ${EXAMPLES}`);
