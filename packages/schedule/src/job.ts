/** A job: what is to happen when, and how it went so far. Plain JSON; the scheduler alone makes one. */
import type { Schedule } from "./schedule.ts";

/** What happens to a due moment while an earlier run of the same job still works. */
export type Overlap = "skip" | "queue" | "allow";

/** What happens to due moments that passed while nobody could see to them: none, the newest, or the newest twenty run. */
export type Missed = "skip" | "latest" | "all";

/** What a caller says about a job. */
export interface JobSpec<Payload = unknown> {
	/** For people, one line. */
	name: string;
	/** As a person writes it; see `parseSchedule`. */
	schedule: string;
	/** IANA name in which the schedule is read; the scheduler's, else the machine's, when absent. */
	timeZone?: string;
	/** Plain JSON, at most 64 KiB of it, handed to `onDue` as it is. */
	payload: Payload;
	/** `skip` when absent. */
	overlap?: Overlap;
	/** `latest` when absent. */
	missed?: Missed;
	/** Each job is late by an amount of its own below this, always the same, so that many jobs of one moment spread out. */
	jitterMs?: number;
	/** After so many runs nothing is due any more. */
	maxRuns?: number;
	/** Nothing is due after this moment, in milliseconds since the epoch. */
	endsAt?: number;
	/** `true` when absent; `false` is a paused job. */
	enabled?: boolean;
	tags?: readonly string[];
}

export interface Job<Payload = unknown> extends JobSpec<Payload> {
	id: string;
	createdAt: number;
	/** The schedule as it was understood when it was written. */
	when: Schedule;
	overlap: Overlap;
	missed: Missed;
	jitterMs: number;
	enabled: boolean;
	tags: readonly string[];
	/** How many runs were started. */
	runs: number;
	/** When it is due next. Absent when it is paused or nothing is left to do. */
	nextAt?: number;
	/** The newest twenty, oldest first. */
	history: readonly JobRun[];
}

/** One due moment and what became of it. */
export interface JobRun {
	/** One of a kind; no two processes ever start the same one. */
	runKey: string;
	dueAt: number;
	startedAt?: number;
	endedAt?: number;
	/** `skipped`: an earlier run still worked. `missed`: nobody was there in time. `lost`: started, and its process died. */
	result: "running" | "done" | "failed" | "skipped" | "missed" | "lost";
	note?: string;
}

/** What `onDue` rejects with when nothing of the run has begun: the moment is as if nobody had started it yet. */
export class NotBegun extends Error {
	override readonly name = "NotBegun";
}

/** A mistake of whoever calls the scheduler: an unknown job, a field that makes no sense. */
export class JobError extends Error {
	override readonly name = "JobError";
}
