/**
 * Polls the jobs of a store: claims due runs, renews our claims, reclaims expired ones, and starts runs. `due.ts` decides
 * what to do about a job, the store decides which process gets it. One timer for any number of jobs.
 */

import { isLeaseExpired, type JobEntry, LEASE_MS, type OpenRun, type StoredJob } from "../jobs/job-reducer.ts";
import type { Clock } from "../rules/clock.ts";
import type { JobStore } from "../store/store.ts";
import type { ActiveRuns } from "./active-runs.ts";
import {
	delayOf,
	isLeaseFresh,
	mustRewind,
	nextDue,
	nextLeaseCheck,
	planDueRuns,
	runsToStart,
	shouldRetake,
} from "./due.ts";
import { DueQueue } from "./due-queue.ts";

/**
 * The longest time between two polls. A machine that slept, a changed clock, and changes of other processes that the file
 * system does not report are noticed within it. A poll costs one timer and one system call.
 */
const POLL_MS = 30_000;
const RETRY_MS = 5_000;
/** How many jobs are processed concurrently. */
const BATCH_SIZE = 500;

export interface PollLoopOptions {
	store: JobStore;
	clock: Clock;
	/** Identifies this scheduler in its claims. A restarted process is a different owner. */
	owner: string;
	activeRuns: ActiveRuns;
	report: (problem: string) => void;
}

export class PollLoop {
	readonly #store: JobStore;
	readonly #clock: Clock;
	readonly #owner: string;
	readonly #activeRuns: ActiveRuns;
	readonly #report: (problem: string) => void;
	readonly #dueQueue = new DueQueue();
	readonly #nextDue = new Map<string, { of: string; next: number | undefined }>();
	/** Jobs that changed since the last poll. */
	readonly #touched = new Set<string>();
	#jobs: ReadonlyMap<string, StoredJob> = new Map();
	#isOn = false;
	#polling: Promise<void> | undefined;
	#mustPoll = false;
	#cancelTimer: () => void = () => undefined;
	#lastPoll = 0;
	#plannedPoll = 0;
	/** After a sleep or a clock change, other processes get until then to renew their claims. */
	#graceUntil = 0;

	constructor({ store, clock, owner, activeRuns, report }: PollLoopOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#owner = owner;
		this.#activeRuns = activeRuns;
		this.#report = report;
	}

	get isOn(): boolean {
		return this.#isOn;
	}

	async start(): Promise<void> {
		this.touch([...(await this.#store.read()).keys()]);
		this.#lastPoll = this.#plannedPoll = this.#clock.now();
		this.#isOn = true;
		await this.check();
	}

	async stop(): Promise<void> {
		this.#isOn = false;
		this.#cancelTimer();
		await this.#polling;
	}

	/** Marks jobs as changed. */
	touch(ids: readonly string[]): void {
		for (const id of ids) this.#touched.add(id);
		if (this.#isOn) void this.check();
	}

	/** Polls now. Resolves when all due runs have been started, by this process or another. */
	check(): Promise<void> {
		this.#mustPoll = true;
		this.#polling ??= this.#pollUntilDone().then(() => {
			this.#polling = undefined;
			if (this.#mustPoll && this.#isOn) return this.check();
			this.#arm();
		});
		return this.#polling;
	}

	/** When a job is due next, without its delay. Cached, because evaluating a pattern is the most expensive step here. */
	next(job: StoredJob): number | undefined {
		const { schedule, timeZone, cursor, epoch, endsAt, maxRuns, runs, enabled, open } = job;
		const of = [schedule, timeZone, cursor, epoch, endsAt, enabled, maxRuns && [maxRuns, runs, open.length]].join();
		const known = this.#nextDue.get(job.id);
		if (known?.of === of) return known.next;
		const next = nextDue(job);
		this.#nextDue.set(job.id, { of, next });
		return next;
	}

	async #pollUntilDone(): Promise<void> {
		while (this.#mustPoll && this.#isOn) {
			this.#mustPoll = false;
			try {
				await this.#poll();
			} catch (error) {
				this.#report(`Jobs could not be checked; it will be retried: ${error}`);
			}
		}
	}

	async #poll(): Promise<void> {
		this.#jobs = await this.#store.read();
		const now = this.#clock.now();
		this.#noticeJump(now);
		this.#lastPoll = this.#plannedPoll = now;
		for (const id of this.#touched) this.#reschedule(id, now);
		this.#touched.clear();
		const ids = this.#dueQueue.takeUntil(now);
		for (let from = 0; from < ids.length; from += BATCH_SIZE) {
			await Promise.all(ids.slice(from, from + BATCH_SIZE).map((id) => this.#process(id)));
		}
	}

	/** Timers pause while a machine sleeps, and do not follow a clock that is changed. */
	#noticeJump(now: number): void {
		if (now <= this.#plannedPoll + POLL_MS && now >= this.#lastPoll - 1_000) return;
		this.#graceUntil = now + LEASE_MS;
		for (const id of this.#jobs.keys()) this.#touched.add(id);
	}

	/** Updates when a job must be checked next. */
	#reschedule(id: string, now: number): void {
		const job = this.#jobs.get(id);
		this.#dueQueue.set(id, job && this.#nextCheckAt(job, now));
		if (job) return;
		this.#nextDue.delete(id);
		this.#activeRuns.abort(id);
	}

	#nextCheckAt(job: StoredJob, now: number): number | undefined {
		const next = this.next(job);
		if (mustRewind(job, next, now) || runsToStart(job, this.#owner).length > 0) return now;
		const dueAt = next === undefined ? Number.POSITIVE_INFINITY : next + delayOf(job);
		const lease = nextLeaseCheck(job, (run) => this.#isMine(run), { now, graceUntil: this.#graceUntil });
		const wanted = Math.min(dueAt, lease);
		return wanted === Number.POSITIVE_INFINITY ? undefined : wanted;
	}

	/** A run of this scheduler whose end could not be recorded is not ours any more. */
	#isMine({ owner, startedAt, runKey }: OpenRun): boolean {
		return owner === this.#owner && (startedAt === undefined || this.#activeRuns.has(runKey));
	}

	/** Does everything that one job needs now, and marks it for rescheduling. */
	async #process(id: string): Promise<void> {
		const before = this.#jobs.get(id);
		if (!before) return;
		try {
			let job = await this.#renew(before);
			job = await this.#reclaim(job, { isStarted: true }); // due runs may wait for their end
			job = await this.#take(job);
			job = await this.#reclaim(job, { isStarted: false }); // only now is the latest due time known
			for (const run of runsToStart(job, this.#owner))
				if (this.#isOn) job = (await this.#activeRuns.start(job, run)) ?? job;
			if (job === before) throw new Error("nothing could be done"); // otherwise this would repeat without end
			this.#touched.add(id);
			this.#mustPoll = true;
		} catch (error) {
			this.#report(`"${before.name}" could not be processed; it will be retried: ${error}`);
			this.#dueQueue.set(id, this.#clock.now() + RETRY_MS);
		}
	}

	async #renew(job: StoredJob): Promise<StoredJob> {
		let current = job;
		for (const run of job.open) {
			const at = this.#clock.now();
			if (!this.#isMine(run) || isLeaseFresh(run, at)) continue;
			current = await this.#record(current, { type: "renew", id: job.id, runKey: run.runKey, token: run.token, at });
		}
		return current;
	}

	async #reclaim(job: StoredJob, { isStarted }: { isStarted: boolean }): Promise<StoredJob> {
		let current = job;
		for (const run of job.open) {
			const at = this.#clock.now();
			if (this.#isMine(run) || (run.startedAt !== undefined) !== isStarted) continue;
			if (at < this.#graceUntil || !isLeaseExpired(run, at)) continue;
			const on = { id: job.id, runKey: run.runKey, token: run.token, at };
			current = await this.#record(current, isStarted ? { type: "lose", ...on } : this.#reassign(current, run, on));
		}
		return current;
	}

	/** A run that its owner claimed and did not start: the policy for missed runs decides. */
	#reassign(job: StoredJob, run: OpenRun, on: { id: string; runKey: string; token: number; at: number }): JobEntry {
		if (shouldRetake(job, run)) return { type: "retake", owner: this.#owner, ...on };
		return { type: "pass", result: "missed", note: "its process ended before the run started", ...on };
	}

	async #take(job: StoredJob): Promise<StoredJob> {
		const at = this.#clock.now();
		const { id, cursor, epoch } = job;
		const next = this.next(job);
		if (mustRewind(job, next, at)) return this.#record(job, { type: "rewind", id, at, cursor, epoch });
		if (next === undefined || next + delayOf(job) > at) return job;
		return this.#record(job, {
			type: "take",
			id,
			at,
			owner: this.#owner,
			cursor,
			epoch,
			...planDueRuns(job, next, at),
		});
	}

	async #record(job: StoredJob, entry: JobEntry): Promise<StoredJob> {
		return this.#isOn ? ((await this.#store.record(entry)).job ?? job) : job;
	}

	#arm(): void {
		this.#cancelTimer();
		if (!this.#isOn) return;
		const now = this.#clock.now();
		const wait = Math.max(0, Math.min((this.#dueQueue.earliest() ?? Number.POSITIVE_INFINITY) - now, POLL_MS));
		this.#plannedPoll = now + wait;
		this.#cancelTimer = this.#clock.after(wait, () => void this.check());
	}
}
