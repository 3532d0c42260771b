/**
 * What every entry does to the jobs, and which entries are refused. Pure. Processes that share a store agree on the
 * order of its entries, so they agree on everything: who has a due moment is decided here and nowhere else.
 */
import type { Job, JobRun, JobSpec } from "./job.ts";

/** Longer than any claim is held without being renewed: one that reaches further was made before the clock was set back. */
export const LEASE_MS = 60_000;
export const HISTORY_KEPT = 20;
/** How many runs of a job may work or wait. */
export const MOST_OPEN = 100;
const MOST_JOBS = 20_000;

/** A due moment that a scheduler has taken: it waits for its start, or runs. */
export interface OpenRun {
	runKey: string;
	dueAt: number;
	owner: string;
	/** Goes up with every owner. What an earlier owner says is refused. */
	token: number;
	/** The owner renews it before then, or is given up. */
	until: number;
	startedAt?: number;
}

/** A job as a store keeps it. */
export interface StoredJob extends Omit<Job, "nextAt"> {
	/** Every due moment up to this one was taken or passed over. */
	cursor: number;
	/** Goes up when the cursor is set back, so that no run key comes twice. */
	epoch: number;
	open: readonly OpenRun[];
}

/** The fields of a job that may be changed; `null` removes one. */
export type JobChange = { [Field in keyof JobSpec]?: JobSpec[Field] | null };

/** A moment that is not run, and why. */
export interface Passed {
	runKey: string;
	dueAt: number;
	result: "skipped" | "missed";
	note?: string;
}

type OnRun = { id: string; runKey: string; token: number };

export type Entry =
	| { type: "job"; job: StoredJob }
	| { type: "change"; id: string; at: number; change: JobChange; when?: Job["when"] }
	| { type: "remove"; id: string }
	/** Takes all due moments up to `through` for one owner, if nobody else has taken any of them. */
	| {
			type: "take";
			id: string;
			at: number;
			owner: string;
			cursor: number;
			epoch: number;
			through: number;
			run: { runKey: string; dueAt: number }[];
			passed: Passed[];
	  }
	/** A run outside the schedule. */
	| { type: "call"; id: string; at: number; owner: string; runKey: string }
	/** Takes over a moment whose owner is given up and had not started it. */
	| ({ type: "retake"; at: number; owner: string } & OnRun)
	| ({ type: "start"; at: number } & OnRun)
	| ({ type: "renew"; at: number } & OnRun)
	/** Lets go of a moment of which nothing has begun, so that anybody may take it over. */
	| ({ type: "release"; at: number } & OnRun)
	| ({ type: "end"; at: number; result: "done" | "failed"; note?: string } & OnRun)
	/** A started run whose owner is given up. */
	| ({ type: "lose"; at: number } & OnRun)
	/** A moment that its owner had not started when it was given up, and that nobody will start. */
	| ({ type: "pass"; at: number; result: Passed["result"]; note: string } & OnRun)
	/** The clock was set back so far that the cursor would hold the job up. */
	| { type: "rewind"; id: string; at: number; cursor: number; epoch: number };

/** Which job an entry is about. */
export const idOf = (entry: Entry) => (entry.type === "job" ? entry.job.id : entry.id);

/** Whether a run's owner may be given up. */
export function isGivenUp({ until }: OpenRun, at: number): boolean {
	return at >= until || until - at > 2 * LEASE_MS;
}

/** Applies one entry. `false`: refused, and nothing has changed. */
export function apply(jobs: Map<string, StoredJob>, entry: Entry): boolean {
	const id = idOf(entry);
	const job = jobs.get(id);
	if (entry.type === "remove") return jobs.delete(id);
	const next = entry.type === "job" ? added(jobs, entry.job) : job && changed(job, entry);
	if (next) jobs.set(id, next);
	return next !== undefined;
}

function added(jobs: Map<string, StoredJob>, job: StoredJob): StoredJob | undefined {
	return jobs.has(job.id) || jobs.size >= MOST_JOBS ? undefined : job;
}

function changed(job: StoredJob, entry: Exclude<Entry, { type: "job" | "remove" }>): StoredJob | undefined {
	switch (entry.type) {
		case "change":
			return withChange(job, entry);
		case "take": {
			if (!job.enabled || job.cursor !== entry.cursor || job.epoch !== entry.epoch) return undefined;
			if (job.open.length + entry.run.length > MOST_OPEN) return undefined;
			const open = entry.run.map((run) => claim(run, entry.owner, entry.at));
			return { ...job, cursor: entry.through, open: [...job.open, ...open], history: kept(job.history, entry.passed) };
		}
		case "call": {
			if (job.overlap === "skip" && job.open.some((run) => !isGivenUp(run, entry.at))) return undefined;
			if (job.open.some(({ runKey }) => runKey === entry.runKey) || job.open.length >= MOST_OPEN) return undefined;
			return { ...job, open: [...job.open, claim({ ...entry, dueAt: entry.at }, entry.owner, entry.at)] };
		}
		case "rewind":
			if (job.cursor !== entry.cursor || job.epoch !== entry.epoch) return undefined;
			// An interval is counted from the new time: it may have begun after it.
			return from(job.when.kind === "every" ? { ...job, when: { ...job.when, from: entry.at } } : job, entry.at);
		default:
			return withRun(job, entry);
	}
}

const claim = ({ runKey, dueAt }: { runKey: string; dueAt: number }, owner: string, at: number): OpenRun => ({
	...{ runKey, dueAt, owner, token: 1, until: at + LEASE_MS },
});

/** What a run's owner says of it, or others who have given that owner up. */
function withRun(job: StoredJob, entry: Extract<Entry, OnRun>): StoredJob | undefined {
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
			if (isStarted || !isGivenUp(run, at)) return undefined;
			return { ...job, open: replaced({ owner: entry.owner, token: run.token + 1 }) };
		case "start": {
			const isAlone = job.open.every(({ startedAt }) => startedAt === undefined);
			if (isStarted || !(isAlone || job.overlap === "allow")) return undefined;
			return { ...job, runs: job.runs + 1, open: replaced({ startedAt: at }) };
		}
		case "end":
			return isStarted ? closed(job, run, { endedAt: at, result: entry.result, note: entry.note }) : undefined;
		case "lose": {
			if (!isStarted || !isGivenUp(run, at)) return undefined;
			return closed(job, run, { result: "lost", note: "its process ended, or could not be reached for a minute" });
		}
		case "pass":
			if (isStarted || !isGivenUp(run, at)) return undefined;
			return closed(job, run, { result: entry.result, note: entry.note });
	}
}

function closed(
	job: StoredJob,
	{ runKey, dueAt, startedAt }: OpenRun,
	{ note, ...how }: Pick<JobRun, "result" | "endedAt"> & { note?: string | undefined },
): StoredJob {
	const started = startedAt === undefined ? {} : { startedAt };
	const run = { runKey, dueAt, ...started, ...how, ...(note === undefined ? {} : { note }) };
	return { ...job, open: job.open.filter((open) => open.runKey !== runKey), history: kept(job.history, [run]) };
}

function withChange(job: StoredJob, { at, change, when }: Extract<Entry, { type: "change" }>): StoredJob {
	const fields = Object.entries({ ...job, ...change, ...(when ? { when } : {}) });
	// The validator has checked every field of the change; what it may remove is optional in a job.
	const next = Object.fromEntries(fields.filter(([, value]) => value !== null)) as unknown as StoredJob;
	const isPaused = job.enabled && !next.enabled;
	const waits = (run: OpenRun) => run.startedAt === undefined;
	if (isPaused) {
		const passed = job.open.filter(waits).map(({ runKey, dueAt }) => ({ runKey, dueAt, ...PAUSED }));
		return { ...next, open: job.open.filter((run) => !waits(run)), history: kept(job.history, passed) };
	}
	// Moments of another schedule, or of a time in which the job was paused, are nobody's loss.
	return when !== undefined || (!job.enabled && next.enabled) ? from(next, at) : next;
}

const PAUSED = { result: "skipped", note: "the job was paused" } as const;

function from(job: StoredJob, at: number): StoredJob {
	return { ...job, cursor: at, epoch: at < job.cursor ? job.epoch + 1 : job.epoch };
}

const kept = (history: readonly JobRun[], more: readonly JobRun[]) => [...history, ...more].slice(-HISTORY_KEPT);
