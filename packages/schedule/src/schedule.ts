/**
 * When something is due: a cron pattern, an interval or a single moment. Pure: the present is an argument.
 * Cron belongs to croner, with its rules for time zones and daylight saving; nothing here repeats them.
 */
import { Cron } from "croner";

export type Schedule =
	| { kind: "cron"; pattern: string; timeZone?: string }
	| { kind: "every"; ms: number; from: number }
	| { kind: "once"; at: number };

/** Says what could not be understood, and what would be. */
export class ScheduleError extends Error {
	override readonly name = "ScheduleError";
}

export interface ParseOptions {
	/** Milliseconds since the epoch. */
	now: number;
	/** IANA name for cron patterns; the machine's own when absent. */
	timeZone?: string;
}

const EXAMPLES = `Examples: "0 9 * * 1" (cron), "@daily", "5m" (interval), "+10m" (once, from now), "2027-01-31T09:00:00Z" (once).`;

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * @example
 * ```ts
 * const schedule = parseSchedule("30m", { now: Date.now() });
 * nextRuns(schedule, Date.now(), 3);
 * ```
 */
export function parseSchedule(text: string, { now, timeZone }: ParseOptions): Schedule {
	const wanted = text.trim();
	const [, plus, amount, unit] = /^(\+)?(\d{1,9})([smhdw])$/.exec(wanted) ?? [];
	if (amount !== undefined && unit !== undefined) {
		const ms = Number(amount) * UNITS[unit as keyof typeof UNITS];
		if (ms === 0) throw new ScheduleError(`"${text}" is no time at all. ${EXAMPLES}`);
		return plus ? { kind: "once", at: now + ms } : { kind: "every", ms, from: now };
	}
	if (/^\d{4}-\d{2}-\d{2}/.test(wanted)) return parseMoment(wanted, now);
	return parseCron(wanted, timeZone);
}

/** The next moments, earliest first: as many as there are, at most `count`. */
export function nextRuns(schedule: Schedule, from: number, count: number): Date[] {
	switch (schedule.kind) {
		case "once":
			return schedule.at > from && count > 0 ? [new Date(schedule.at)] : [];
		case "every": {
			const past = Math.max(0, Math.floor((from - schedule.from) / schedule.ms));
			return Array.from({ length: count }, (_, index) => new Date(schedule.from + (past + 1 + index) * schedule.ms));
		}
		case "cron":
			return cron(schedule.pattern, schedule.timeZone).nextRuns(count, new Date(from));
	}
}

function parseMoment(text: string, now: number): Schedule {
	const at = Date.parse(text);
	if (Number.isNaN(at)) throw new ScheduleError(`"${text}" is not a date. ${EXAMPLES}`);
	if (at <= now) throw new ScheduleError(`"${text}" is in the past. ${EXAMPLES}`);
	return { kind: "once", at };
}

function parseCron(pattern: string, timeZone: string | undefined): Schedule {
	try {
		cron(pattern, timeZone);
	} catch (error) {
		throw new ScheduleError(
			`"${pattern}" is not a schedule: ${error instanceof Error ? error.message : error}. ${EXAMPLES}`,
		);
	}
	return { kind: "cron", pattern, ...(timeZone === undefined ? {} : { timeZone }) };
}

function cron(pattern: string, timeZone: string | undefined): Cron {
	return new Cron(pattern, timeZone === undefined ? {} : { timezone: timeZone });
}
