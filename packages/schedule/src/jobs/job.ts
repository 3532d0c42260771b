/** A job: what to run, when, and its history. Plain JSON; only the scheduler creates one. */
import { printable, type Schedule } from "../rules/schedule.ts";

/** What happens when a run is due while an earlier run of the job is still running. */
export type Overlap = "skip" | "queue" | "allow";

/** What happens to due times that passed while no scheduler was running: none, the newest, or the newest twenty run. */
export type Missed = "skip" | "latest" | "all";

/** What a caller specifies about a job. */
export interface JobSpec<Payload = unknown> {
	/** One line, for people. */
	name: string;
	/** As a person writes it; see `parseSchedule`. */
	schedule: string;
	/** IANA time zone of the schedule. Default: the scheduler's, else the machine's. */
	timeZone?: string;
	/** Plain JSON of at most 64 KiB, passed to `onDue` unchanged. */
	payload: Payload;
	/** Default: `skip`. */
	overlap?: Overlap;
	/** Default: `latest`. */
	missed?: Missed;
	/** Delays each run by a fixed amount below this that depends on the job, so that jobs due at the same time spread out. */
	jitterMs?: number;
	/** After this many runs the job is not due any more. */
	maxRuns?: number;
	/** The job is not due after this time, in milliseconds since the epoch. */
	endsAt?: number;
	/** Default: `true`. `false` is a paused job. */
	enabled?: boolean;
	tags?: readonly string[];
}

export interface Job<Payload = unknown> extends JobSpec<Payload> {
	id: string;
	createdAt: number;
	/** The parsed schedule. */
	when: Schedule;
	overlap: Overlap;
	missed: Missed;
	jitterMs: number;
	enabled: boolean;
	tags: readonly string[];
	/** How many runs were started. */
	runs: number;
	/** When it is due next. Absent when it is paused or has no runs left. */
	nextAt?: number;
	/** The newest twenty, oldest first. */
	history: readonly JobRun[];
}

/** One run of a job, or a due time that was not run. */
export interface JobRun {
	/** Unique; no two processes ever start the same one. */
	runKey: string;
	dueAt: number;
	startedAt?: number;
	endedAt?: number;
	/** `skipped`: an earlier run was still running. `missed`: no scheduler was running. `lost`: its process died. */
	result: "running" | "done" | "failed" | "skipped" | "missed" | "lost";
	note?: string;
}

/** What `onDue` rejects with when the run has not begun: it is then treated as not started. */
export class NotBegun extends Error {
	override readonly name = "NotBegun";
}

/** A mistake of the caller: an unknown job or an invalid field. */
export class JobError extends Error {
	override readonly name = "JobError";

	constructor(message: string) {
		super(printable(message));
	}
}
