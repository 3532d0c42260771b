/**
 * When something is due: a cron pattern, an interval or a single moment. Pure: the present is an argument.
 * Cron belongs to croner, with its rules for time zones and daylight saving; nothing here repeats them.
 */
import { Cron } from "croner";

export type Schedule =
	| { kind: "cron"; pattern: string; timeZone?: string }
	| { kind: "every"; ms: number; from: number }
	| { kind: "once"; at: number; timeZone?: string };

/** Says what could not be understood, and what would be. */
export class ScheduleError extends Error {
	override readonly name = "ScheduleError";
}

export interface ParseOptions {
	/** Milliseconds since the epoch. */
	now: number;
	/** IANA name for cron patterns and for dates without a zone; the machine's own when absent. */
	timeZone?: string;
}

const EXAMPLES = `Examples: "0 9 * * 1" (cron), "@daily", "5m" (interval), "+10m" (once, from now), "2027-01-31T09:00:00Z" (once).`;

export const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const LONGEST_TEXT = 200;
/** Whoever writes something further away has mistyped. */
const FARTHEST_MS = 100 * 366 * UNITS.d;
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * @example
 * ```ts
 * const schedule = parseSchedule("30m", { now: Date.now() });
 * nextRuns(schedule, Date.now(), 3);
 * ```
 */
export function parseSchedule(text: string, { now, timeZone }: ParseOptions): Schedule {
	const wanted = text.trim();
	if (wanted.length > LONGEST_TEXT) throw wrong(`${wanted.slice(0, 40)}…`, `is longer than ${LONGEST_TEXT} characters`);
	if (timeZone !== undefined) checkZone(timeZone);
	const [, plus, amount, unit] = /^(\+)?(\d{1,9})([smhdw])$/.exec(wanted) ?? [];
	if (amount !== undefined && unit !== undefined) {
		const ms = Number(amount) * UNITS[unit as keyof typeof UNITS];
		if (ms === 0) throw wrong(text, "is no time at all");
		if (ms > FARTHEST_MS) throw wrong(text, "is more than 100 years");
		return plus ? { kind: "once", at: now + ms, ...zone(timeZone) } : { kind: "every", ms, from: now };
	}
	if (/^\d{4}-/.test(wanted)) return { kind: "once", at: parseMoment(wanted, now, timeZone), ...zone(timeZone) };
	return parseCron(wanted, now, timeZone);
}

/** The next moments, earliest first: as many as there are, at most `count`, all strictly later than `from`. */
export function nextRuns(schedule: Schedule, from: number, count: number): Date[] {
	switch (schedule.kind) {
		case "once":
			return schedule.at > from && count > 0 ? [new Date(schedule.at)] : [];
		case "every": {
			const past = Math.max(0, Math.floor((from - schedule.from) / schedule.ms));
			return Array.from({ length: count }, (_, index) => new Date(schedule.from + (past + 1 + index) * schedule.ms));
		}
		case "cron":
			return nextMatches(pattern(schedule.pattern, schedule.timeZone), from, count).map((run) => new Date(run));
	}
}

/** The moments later than `after` and not later than `through`: the newest `most` of them, earliest first. */
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
			// Backwards from the end: a pattern of every second that nobody watched for a year has millions of moments.
			const wholeSecond = Math.floor(through / 1_000) * 1_000 + 1_000;
			const runs = known.cron.previousRuns(most + 1, new Date(wholeSecond)).map(Number);
			return runs
				.filter((run) => run > after && run <= through)
				.sort((a, b) => a - b)
				.slice(-most);
		}
	}
}

/** Whether something read from a file is a schedule that can be asked. */
export function isSchedule(value: unknown): value is Schedule {
	const { kind, pattern: text, timeZone, ms, from, at } = (value ?? {}) as Record<string, unknown>;
	if (timeZone !== undefined && typeof timeZone !== "string") return false;
	if (kind === "every") return Number.isSafeInteger(ms) && Number(ms) >= UNITS.s && Number.isSafeInteger(from);
	if (kind === "once") return Number.isSafeInteger(at) && Math.abs(Number(at)) <= 8.64e15;
	if (kind !== "cron" || typeof text !== "string" || text.length > LONGEST_TEXT) return false;
	try {
		pattern(text, timeZone);
		return true;
	} catch {
		return false; // croner says why, but to whoever wrote it, not to whoever reads it
	}
}

function parseMoment(text: string, now: number, timeZone: string | undefined): number {
	const [, year, month, day, minutes = "00:00", seconds = ":00", fraction = "", offset] = MOMENT.exec(text) ?? [];
	// A day that the month does not have would silently become one of the next month.
	const isDay = new Date(`${year}-${month}-${day}T00:00:00Z`).toJSON()?.startsWith(`${year}-${month}-${day}`);
	if (!isDay) throw wrong(text, "is not a date that exists, written like 2027-01-31T09:00:00");
	const local = `${year}-${month}-${day}T${minutes}${seconds}`;
	const at = offset === undefined ? inZone(local, timeZone) + Number(`0${fraction}`) * 1_000 : Date.parse(text);
	if (Number.isNaN(at)) throw wrong(text, "is not a time that exists");
	if (at <= now) throw wrong(text, `is in the past: it is ${new Date(now).toISOString()}`);
	if (at > now + FARTHEST_MS) throw wrong(text, "is more than 100 years away");
	return at;
}

/** A local time that a change of the clocks skips or repeats is read as croner reads such a date. */
function inZone(local: string, timeZone: string | undefined): number {
	try {
		return pattern(local, timeZone).cron.nextRun(new Date(0))?.getTime() ?? Number.NaN;
	} catch {
		return Number.NaN; // the caller says it with the text that was written
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
	if (next === undefined) throw wrong(text, "never comes: no date matches it");
	return { kind: "cron", pattern: text, ...zone(timeZone) };
}

interface Pattern {
	cron: Cron;
	/** What was found last: nothing matches between the two. Many jobs share a pattern and ask the same. */
	found: { after: number; next: number }[];
}

/** Making one costs more than asking it, and each holds a lot of memory, so a few are kept. */
const patterns = new Map<string, Pattern>();
const PATTERNS_KEPT = 200;
const FOUND_KEPT = 4;

function pattern(text: string, timeZone: string | undefined): Pattern {
	const key = `${timeZone ?? ""} ${text}`;
	const known = patterns.get(key);
	if (known) return known;
	if (timeZone !== undefined) checkZone(timeZone);
	// The same for croner, but without asking the system about every date.
	const where = timeZone === "UTC" ? { utcOffset: 0 } : timeZone === undefined ? {} : { timezone: timeZone };
	const made = { cron: new Cron(text, { mode: "5-or-6-parts", ...where }), found: [] };
	const [oldest] = patterns.keys();
	if (patterns.size >= PATTERNS_KEPT && oldest !== undefined) patterns.delete(oldest);
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
		found.length = Math.min(found.length, FOUND_KEPT);
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
		throw new ScheduleError(`"${timeZone}" is not a time zone. Examples: "Europe/Berlin", "America/New_York", "UTC".`);
	}
	zones.add(timeZone);
}

const zone = (timeZone: string | undefined) => (timeZone === undefined ? {} : { timeZone });

const wrong = (text: string, why: string) => new ScheduleError(`"${text}" ${why}. ${EXAMPLES}`);
