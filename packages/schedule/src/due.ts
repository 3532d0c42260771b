/** Decides what to do about a job: what is due, what was missed, what waits for what. Pure. */
import { createHash } from "node:crypto";
import type { Job } from "./job.ts";
import { HISTORY_KEPT, isGivenUp, LEASE_MS, MOST_OPEN, type OpenRun, type Passed, type StoredJob } from "./ledger.ts";
import { newestRuns, nextRuns } from "./schedule.ts";

/** The newest moment is on time when it is not older than this: looks are half as far apart. */
const ON_TIME_MS = 60_000;
/** How many moments of a job are caught up with, or wait behind a run. */
const MOST_WAITING = 20;
/** A process that was held up may see what another one took in a moment that has not come for it yet. */
const SKEW_MS = 60_000;
/** Clocks are corrected by hours when a machine's zone was wrong; whatever is more was a mistake in the date. */
const CORRECTION_MS = 25 * 3_600_000;

/** How late a job always is: its own share of its jitter. */
export function delayOf({ id, jitterMs }: Pick<Job, "id" | "jitterMs">): number {
	if (jitterMs === 0) return 0;
	return createHash("sha256").update(id).digest().readUInt32BE(0) % jitterMs;
}

/** The next due moment as the schedule says it, without the delay. */
export function nextDue(job: StoredJob): number | undefined {
	if (!job.enabled || runsLeft(job) <= 0) return undefined;
	const next = nextRuns(job.when, job.cursor, 1)[0]?.getTime();
	return next === undefined || next > (job.endsAt ?? Number.POSITIVE_INFINITY) ? undefined : next;
}

const runsLeft = ({ maxRuns, runs, open }: StoredJob) =>
	(maxRuns ?? Number.POSITIVE_INFINITY) - runs - open.filter(({ startedAt }) => startedAt === undefined).length;

const runKeyOf = ({ id, epoch }: StoredJob, dueAt: number) => `${id}.${dueAt}${epoch === 0 ? "" : `.${epoch}`}`;

/**
 * Whether the clock was set back so far that the job would stand still. An interval is about time that passes, so it goes
 * on from the new time at once; a pattern is about the date, and waits until its moments are new again.
 */
export function mustRewind(job: StoredJob, next: number | undefined, now: number): boolean {
	if (!job.enabled) return false;
	if (job.when.kind === "every") return next !== undefined && next > now + job.when.ms + SKEW_MS;
	return job.when.kind === "cron" && job.cursor > now + CORRECTION_MS;
}

export interface Taking {
	through: number;
	run: { runKey: string; dueAt: number }[];
	passed: Passed[];
}

/** What becomes of the moments that are due now, of which `next` is the first. */
export function taking(job: StoredJob, next: number, now: number): Taking {
	const until = Math.min(now - delayOf(job), job.endsAt ?? Number.POSITIVE_INFINITY);
	const newest = newestRuns(job.when, job.cursor, until, MOST_WAITING);
	const due = newest.length === 0 ? [next] : newest;
	const through = Math.max(...due);
	const { wanted, missed } = byMissed(job, due, now);
	const { run, skipped } = byOverlap(job, wanted, now);
	const keyed = (dueAt: number) => ({ runKey: runKeyOf(job, dueAt), dueAt });
	const passed = [
		...missed.map((dueAt) => ({ ...keyed(dueAt), result: "missed" as const })),
		...skipped.map((dueAt) => ({ ...keyed(dueAt), result: "skipped" as const, note: "an earlier run still worked" })),
	];
	return { through, run: run.map(keyed), passed };
}

function byMissed(job: StoredJob, due: readonly number[], now: number): { wanted: number[]; missed: number[] } {
	const newest = due.at(-1) ?? 0;
	const isOnTime = now - newest - delayOf(job) <= ON_TIME_MS;
	const most = { skip: isOnTime ? 1 : 0, latest: 1, all: due.length }[job.missed];
	const first = due.length - Math.min(most, Math.max(0, runsLeft(job)));
	return { wanted: due.slice(first), missed: due.slice(0, first) };
}

function byOverlap(job: StoredJob, wanted: number[], now: number): { run: number[]; skipped: number[] } {
	const live = job.open.filter((run) => !isGivenUp(run, now));
	const waiting = live.filter(({ startedAt }) => startedAt === undefined).length;
	const most = { skip: live.length === 0 ? MOST_WAITING : 0, queue: MOST_WAITING - waiting, allow: MOST_OPEN }[
		job.overlap
	];
	const room = Math.max(0, Math.min(most, MOST_OPEN - job.open.length));
	return { run: wanted.slice(0, room), skipped: wanted.slice(room) };
}

/** What the job's policy says of a moment that was taken, and whose owner was given up before it started it. */
export function isWorthRetaking(job: StoredJob, run: OpenRun): boolean {
	return { skip: false, latest: run.dueAt >= job.cursor, all: true }[job.missed];
}

/** Which of an owner's moments may start now: without overlap one at a time, the oldest first. */
export function startable(job: StoredJob, owner: string): OpenRun[] {
	const waiting = job.open.filter((run) => run.startedAt === undefined && run.owner === owner);
	if (job.overlap === "allow") return waiting;
	if (job.open.some(({ startedAt }) => startedAt !== undefined)) return [];
	return waiting.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, 1);
}

/** When a job's open runs must be looked at again: to renew one's own, or to give up others, but not before `patientUntil`. */
export function leaseLook(
	job: StoredJob,
	isMine: (run: OpenRun) => boolean,
	{ now, patientUntil }: { now: number; patientUntil: number },
): number {
	const looks = job.open.map((run) => {
		if (isMine(run)) return isFresh(run, now) ? run.until - LEASE_MS / 2 : now;
		return Math.max(patientUntil, isGivenUp(run, now) ? now : run.until);
	});
	return Math.min(...looks);
}

/** Whether one's own claim need not be renewed yet. */
export const isFresh = ({ until }: OpenRun, now: number) => until - now > LEASE_MS / 2 && until - now <= LEASE_MS;

/** A job as its users see it. */
export function viewOf(job: StoredJob, next: number | undefined): Job {
	const { cursor: _cursor, epoch: _epoch, open, history, ...rest } = job;
	const running = open.flatMap(({ runKey, dueAt, startedAt }) =>
		startedAt === undefined ? [] : [{ runKey, dueAt, startedAt, result: "running" as const }],
	);
	const nextAt = next === undefined ? {} : { nextAt: next + delayOf(job) };
	return { ...rest, ...nextAt, history: [...history, ...running].slice(-HISTORY_KEPT) };
}
