/**
 * What each entry does to the jobs, and which entries are rejected. Pure. Processes that share a store see its entries in
 * the same order and so reach the same state: only this file decides which process runs a due job.
 */
import type { Job, JobRun, JobSpec } from "./job.ts";

/** How long a claim is valid without renewal. One that lasts longer was made before the clock was set back. */
export const LEASE_MS = 60_000;
export const MAX_HISTORY = 20;
/** How many runs of a job may be running or waiting. */
export const MAX_OPEN = 100;
const MAX_JOBS = 20_000;

/** A due run that a scheduler has claimed: it waits for its start, or runs. */
export interface OpenRun {
	runKey: string;
	dueAt: number;
	owner: string;
	/** A fencing token: it increases with every owner, and entries of an earlier owner are rejected. */
	token: number;
	/** When the claim expires unless its owner renews it. */
	until: number;
	startedAt?: number;
}

/** A job as stored. */
export interface StoredJob extends Omit<Job, "nextAt"> {
	/** All due times up to this one were claimed or skipped. */
	cursor: number;
	/** Increases when the cursor is set back, so that run keys stay unique. */
	epoch: number;
	open: readonly OpenRun[];
}

/** The fields of a job that may be changed; `null` removes one. */
export type JobChange = { [Field in keyof JobSpec]?: JobSpec[Field] | null };

/** A due time that is not run, and why. */
export interface PassedRun {
	runKey: string;
	dueAt: number;
	result: "skipped" | "missed";
	note?: string;
}

type RunRef = { id: string; runKey: string; token: number };

export type JobEntry =
	| { type: "job"; job: StoredJob }
	| { type: "change"; id: string; at: number; change: JobChange; when?: Job["when"] }
	| { type: "remove"; id: string }
	/** Claims all due times up to `through` for one owner, unless another process has claimed one of them. */
	| {
			type: "take";
			id: string;
			at: number;
			owner: string;
			cursor: number;
			epoch: number;
			through: number;
			run: { runKey: string; dueAt: number }[];
			passed: PassedRun[];
	  }
	/** A run outside the schedule. */
	| { type: "call"; id: string; at: number; owner: string; runKey: string }
	/** Takes over a run that was not started and whose claim has expired. */
	| ({ type: "retake"; at: number; owner: string } & RunRef)
	| ({ type: "start"; at: number } & RunRef)
	| ({ type: "renew"; at: number } & RunRef)
	/** Gives up a run that has not started, so that any process may take it over. */
	| ({ type: "release"; at: number } & RunRef)
	| ({ type: "end"; at: number; result: "done" | "failed"; note?: string } & RunRef)
	/** Ends a started run whose claim has expired. */
	| ({ type: "lose"; at: number } & RunRef)
	/** Skips a run that was not started and whose claim has expired. */
	| ({ type: "pass"; at: number; result: PassedRun["result"]; note: string } & RunRef)
	/** The clock was set back so far that the cursor would delay the job. */
	| { type: "rewind"; id: string; at: number; cursor: number; epoch: number };

/** Which job an entry is about. */
export const idOf = (entry: JobEntry) => (entry.type === "job" ? entry.job.id : entry.id);

/** Whether another process may take over or end a run. */
export function isLeaseExpired({ until }: OpenRun, at: number): boolean {
	return at >= until || until - at > 2 * LEASE_MS;
}

/** Applies one entry. `false`: it was rejected and nothing changed. */
export function applyEntry(jobs: Map<string, StoredJob>, entry: JobEntry): boolean {
	const id = idOf(entry);
	const job = jobs.get(id);
	if (entry.type === "remove") return jobs.delete(id);
	const next = entry.type === "job" ? added(jobs, entry.job) : job && changed(job, entry);
	if (next) jobs.set(id, next);
	return next !== undefined;
}

function added(jobs: Map<string, StoredJob>, job: StoredJob): StoredJob | undefined {
	return jobs.has(job.id) || jobs.size >= MAX_JOBS ? undefined : job;
}

function changed(job: StoredJob, entry: Exclude<JobEntry, { type: "job" | "remove" }>): StoredJob | undefined {
	switch (entry.type) {
		case "change":
			return withChange(job, entry);
		case "take": {
			if (!job.enabled || job.cursor !== entry.cursor || job.epoch !== entry.epoch) return undefined;
			if (job.open.length + entry.run.length > MAX_OPEN) return undefined;
			const open = entry.run.map((run) => openRun(run, entry.owner, entry.at));
			return {
				...job,
				cursor: entry.through,
				open: [...job.open, ...open],
				history: appendHistory(job.history, entry.passed),
			};
		}
		case "call": {
			if (job.overlap === "skip" && job.open.some((run) => !isLeaseExpired(run, entry.at))) return undefined;
			if (job.open.some(({ runKey }) => runKey === entry.runKey) || job.open.length >= MAX_OPEN) return undefined;
			return { ...job, open: [...job.open, openRun({ ...entry, dueAt: entry.at }, entry.owner, entry.at)] };
		}
		case "rewind":
			if (job.cursor !== entry.cursor || job.epoch !== entry.epoch) return undefined;
			// An interval restarts at the new time, which may be before its start.
			return restartAt(job.when.kind === "every" ? { ...job, when: { ...job.when, from: entry.at } } : job, entry.at);
		default:
			return withRun(job, entry);
	}
}

const openRun = ({ runKey, dueAt }: { runKey: string; dueAt: number }, owner: string, at: number): OpenRun => ({
	runKey,
	dueAt,
	owner,
	token: 1,
	until: at + LEASE_MS,
});

/** Entries about one run, from its owner or from a process that reclaims it. */
function withRun(job: StoredJob, entry: Extract<JobEntry, RunRef>): StoredJob | undefined {
	const run = job.open.find(({ runKey }) => runKey === entry.runKey);
	if (run?.token !== entry.token) return undefined;
	const { at } = entry;
	const isStarted = run.startedAt !== undefined;
	const replaced = (by: Partial<OpenRun>) =>
		job.open.map((one) => (one === run ? { ...run, until: at + LEASE_MS, ...by } : one));
	switch (entry.type) {
		case "renew":
			return { ...job, open: replaced({}) };
		case "release": {
			const { startedAt: _, ...waiting } = run;
			const open = job.open.map((one) => (one === run ? { ...waiting, until: at } : one));
			return { ...job, runs: isStarted ? job.runs - 1 : job.runs, open };
		}
		case "retake":
			if (isStarted || !isLeaseExpired(run, at)) return undefined;
			return { ...job, open: replaced({ owner: entry.owner, token: run.token + 1 }) };
		case "start": {
			const isAlone = job.open.every(({ startedAt }) => startedAt === undefined);
			if (isStarted || !(isAlone || job.overlap === "allow")) return undefined;
			return { ...job, runs: job.runs + 1, open: replaced({ startedAt: at }) };
		}
		case "end":
			return isStarted ? closeRun(job, run, { endedAt: at, result: entry.result, note: entry.note }) : undefined;
		case "lose": {
			if (!isStarted || !isLeaseExpired(run, at)) return undefined;
			return closeRun(job, run, { result: "lost", note: "its process ended, or did not respond for a minute" });
		}
		case "pass":
			if (isStarted || !isLeaseExpired(run, at)) return undefined;
			return closeRun(job, run, { result: entry.result, note: entry.note });
	}
}

function closeRun(
	job: StoredJob,
	{ runKey, dueAt, startedAt }: OpenRun,
	{ note, ...how }: Pick<JobRun, "result" | "endedAt"> & { note?: string | undefined },
): StoredJob {
	const started = startedAt === undefined ? {} : { startedAt };
	const run = { runKey, dueAt, ...started, ...how, ...(note === undefined ? {} : { note }) };
	return {
		...job,
		open: job.open.filter((open) => open.runKey !== runKey),
		history: appendHistory(job.history, [run]),
	};
}

function withChange(job: StoredJob, { at, change, when }: Extract<JobEntry, { type: "change" }>): StoredJob {
	const fields = Object.entries({ ...job, ...change, ...(when ? { when } : {}) });
	// The validator checked every field of the change; only optional fields can be removed.
	const next = Object.fromEntries(fields.filter(([, value]) => value !== null)) as unknown as StoredJob;
	const isPaused = job.enabled && !next.enabled;
	const waits = (run: OpenRun) => run.startedAt === undefined;
	if (isPaused) {
		const passed = job.open.filter(waits).map(({ runKey, dueAt }) => ({ runKey, dueAt, ...PAUSED }));
		return { ...next, open: job.open.filter((run) => !waits(run)), history: appendHistory(job.history, passed) };
	}
	// Due times of another schedule, or from while the job was paused, are not missed.
	return when !== undefined || (!job.enabled && next.enabled) ? restartAt(next, at) : next;
}

const PAUSED = { result: "skipped", note: "the job was paused" } as const;

function restartAt(job: StoredJob, at: number): StoredJob {
	return { ...job, cursor: at, epoch: at < job.cursor ? job.epoch + 1 : job.epoch };
}

const appendHistory = (history: readonly JobRun[], more: readonly JobRun[]) =>
	[...history, ...more].slice(-MAX_HISTORY);
