/** Decides what to do about a job: which runs are due, missed or must wait. Pure. */
import { createHash } from "node:crypto";
import type { Job } from "../jobs/job.ts";
import {
	isLeaseExpired,
	LEASE_MS,
	MAX_HISTORY,
	MAX_OPEN,
	type OpenRun,
	type PassedRun,
	type StoredJob,
} from "../jobs/job-reducer.ts";
import { newestRuns, nextRuns } from "../rules/schedule.ts";

/** A run is on time when it is due for no longer than this; polls are half as far apart. */
const ON_TIME_MS = 60_000;
/** How many due runs of a job are made up for, or wait for an earlier run. */
const MAX_WAITING = 20;
/** A delayed process may see claims of another one with times that are in its future. */
const SKEW_MS = 60_000;
/** A clock set back by hours had the wrong time zone; by more than this, it had the wrong date. */
const CORRECTION_MS = 25 * 3_600_000;

/** The fixed delay of a job within its jitter. */
export function delayOf({ id, jitterMs }: Pick<Job, "id" | "jitterMs">): number {
	if (jitterMs === 0) return 0;
	return createHash("sha256").update(id).digest().readUInt32BE(0) % jitterMs;
}

/** The next due time of the schedule, without the delay. */
export function nextDue(job: StoredJob): number | undefined {
	if (!job.enabled || runsLeft(job) <= 0) return undefined;
	const next = nextRuns(job.when, job.cursor, 1)[0]?.getTime();
	return next === undefined || next > (job.endsAt ?? Number.POSITIVE_INFINITY) ? undefined : next;
}

const runsLeft = ({ maxRuns, runs, open }: StoredJob) =>
	(maxRuns ?? Number.POSITIVE_INFINITY) - runs - open.filter(({ startedAt }) => startedAt === undefined).length;

const runKeyOf = ({ id, epoch }: StoredJob, dueAt: number) => `${id}.${dueAt}${epoch === 0 ? "" : `.${epoch}`}`;

/**
 * Whether the clock was set back so far that the job would not run for long. An interval measures elapsed time, so it
 * continues from the new time at once; a pattern refers to dates, so it waits unless the date was wrong.
 */
export function mustRewind(job: StoredJob, next: number | undefined, now: number): boolean {
	if (!job.enabled) return false;
	if (job.when.kind === "every") return next !== undefined && next > now + job.when.ms + SKEW_MS;
	return job.when.kind === "cron" && job.cursor > now + CORRECTION_MS;
}

export interface DuePlan {
	through: number;
	run: { runKey: string; dueAt: number }[];
	passed: PassedRun[];
}

/** Which of the runs that are due now to start and which to pass over. `next` is the first. */
export function planDueRuns(job: StoredJob, next: number, now: number): DuePlan {
	const until = Math.min(now - delayOf(job), job.endsAt ?? Number.POSITIVE_INFINITY);
	const newest = newestRuns(job.when, job.cursor, until, MAX_WAITING);
	const due = newest.length === 0 ? [next] : newest;
	const through = Math.max(...due);
	const { wanted, missed } = byMissed(job, due, now);
	const { run, skipped } = byOverlap(job, wanted, now);
	const keyed = (dueAt: number) => ({ runKey: runKeyOf(job, dueAt), dueAt });
	const passed = [
		...missed.map((dueAt) => ({ ...keyed(dueAt), result: "missed" as const })),
		...skipped.map((dueAt) => ({
			...keyed(dueAt),
			result: "skipped" as const,
			note: "an earlier run was still running",
		})),
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
	const live = job.open.filter((run) => !isLeaseExpired(run, now));
	const waiting = live.filter(({ startedAt }) => startedAt === undefined).length;
	const most = { skip: live.length === 0 ? MAX_WAITING : 0, queue: MAX_WAITING - waiting, allow: MAX_OPEN }[
		job.overlap
	];
	const room = Math.max(0, Math.min(most, MAX_OPEN - job.open.length));
	return { run: wanted.slice(0, room), skipped: wanted.slice(room) };
}

/** Whether the job's policy for missed runs wants a run whose claim expired before it was started. */
export function shouldRetake(job: StoredJob, run: OpenRun): boolean {
	return { skip: false, latest: run.dueAt >= job.cursor, all: true }[job.missed];
}

/** Which waiting runs of an owner may start now: without overlap one at a time, the oldest first. */
export function runsToStart(job: StoredJob, owner: string): OpenRun[] {
	const waiting = job.open.filter((run) => run.startedAt === undefined && run.owner === owner);
	if (job.overlap === "allow") return waiting;
	if (job.open.some(({ startedAt }) => startedAt !== undefined)) return [];
	return waiting.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, 1);
}

/** When to check a job's open runs again: to renew our claims, or to reclaim expired ones, but not before `graceUntil`. */
export function nextLeaseCheck(
	job: StoredJob,
	isMine: (run: OpenRun) => boolean,
	{ now, graceUntil }: { now: number; graceUntil: number },
): number {
	const looks = job.open.map((run) => {
		if (isMine(run)) return isLeaseFresh(run, now) ? run.until - LEASE_MS / 2 : now;
		return Math.max(graceUntil, isLeaseExpired(run, now) ? now : run.until);
	});
	return Math.min(...looks);
}

/** Whether our claim need not be renewed yet. */
export const isLeaseFresh = ({ until }: OpenRun, now: number) => until - now > LEASE_MS / 2 && until - now <= LEASE_MS;

/** The public form of a job. */
export function toJob(job: StoredJob, next: number | undefined): Job {
	const { cursor: _cursor, epoch: _epoch, open, history, ...rest } = job;
	const running = open.flatMap(({ runKey, dueAt, startedAt }) =>
		startedAt === undefined ? [] : [{ runKey, dueAt, startedAt, result: "running" as const }],
	);
	const nextAt = next === undefined ? {} : { nextAt: next + delayOf(job) };
	return { ...rest, ...nextAt, history: [...history, ...running].slice(-MAX_HISTORY) };
}
