/** The public scheduler: adds and changes jobs, and starts and stops the loop that runs them. */
import { randomUUID } from "node:crypto";
import { type Job, JobError, type JobSpec } from "../jobs/job.ts";
import type { StoredJob } from "../jobs/job-reducer.ts";
import { validateFields } from "../jobs/validation.ts";
import { type Clock, systemClock } from "../rules/clock.ts";
import { parseSchedule } from "../rules/schedule.ts";
import type { JobStore, RecordResult } from "../store/store.ts";
import { ActiveRuns } from "./active-runs.ts";
import { toJob } from "./due.ts";
import { PollLoop } from "./poll-loop.ts";

export interface SchedulerOptions<Payload = unknown> {
	/** The caller closes it after the scheduler has stopped. */
	store: JobStore;
	/**
	 * Does the work. The promise settles when the work is done: a string becomes the note in the history, a rejection is a
	 * failed run. The signal is aborted when the job is removed or the scheduler stops; a run that has not begun by then
	 * should reject with `NotBegun`, so that another scheduler can start it.
	 */
	onDue: (job: Job<Payload>, runKey: string, signal: AbortSignal) => unknown;
	clock?: Clock;
	/** For jobs without a time zone. Default: the machine's. */
	timeZone?: string;
	/** Called with a sentence about errors that no caller gets. */
	onProblem?: (problem: string) => void;
	/** Returns letters, digits, `_` and `-`. */
	newId?: () => string;
}

/** What to change in a job. `undefined` removes `timeZone`, `maxRuns` or `endsAt`. */
export type JobPatch<Payload = unknown> = { [Field in keyof JobSpec]?: JobSpec<Payload>[Field] | undefined };

/**
 * @example
 * ```ts
 * const scheduler = new Scheduler({ store: memoryJobStore(), onDue: async (job) => console.log(job.name) });
 * await scheduler.add({ name: "tidy up", schedule: "@daily", payload: null });
 * await scheduler.start();
 * ```
 */
export class Scheduler<Payload = unknown> {
	readonly #store: JobStore;
	readonly #clock: Clock;
	readonly #options: SchedulerOptions<Payload>;
	readonly #owner = randomUUID();
	readonly #activeRuns: ActiveRuns;
	readonly #pollLoop: PollLoop;
	readonly #listeners = new Set<(ids: readonly string[]) => void>();
	readonly #unwatch: () => void;
	#state: "new" | "started" | "stopped" = "new";

	constructor(options: SchedulerOptions<Payload>) {
		const { store, clock = systemClock, onProblem: report = () => undefined } = options;
		this.#options = options;
		this.#store = store;
		this.#clock = clock;
		// The payloads in the store are those that the user of this scheduler added.
		const onDue = options.onDue as SchedulerOptions["onDue"];
		this.#activeRuns = new ActiveRuns({ store, clock, onDue, report, view: (job) => this.#view(job) });
		this.#pollLoop = new PollLoop({ store, clock, owner: this.#owner, activeRuns: this.#activeRuns, report });
		this.#unwatch = store.watch((ids) => {
			this.#pollLoop.touch(ids);
			for (const listener of this.#listeners) listener(ids);
		});
	}

	/** Throws `ScheduleError` for an invalid schedule, `JobError` for any other field. Works before `start`. */
	async add(spec: JobSpec<Payload>): Promise<Job<Payload>> {
		const now = this.#clock.now();
		const given = {
			...withoutNulls(validateFields(spec)),
			...(spec.payload === null ? { payload: null } : {}),
		} as JobSpec;
		for (const field of ["name", "schedule", "payload"] as const) {
			if (given[field] === undefined) throw new JobError(`A job needs a "${field}".`);
		}
		const job: StoredJob = {
			overlap: "skip",
			missed: "latest",
			jitterMs: 0,
			enabled: true,
			tags: [],
			...given,
			payload: JSON.parse(JSON.stringify(given.payload)),
			id: this.#options.newId?.() ?? randomUUID().replaceAll("-", "").slice(0, 12),
			createdAt: now,
			when: this.#parse(given.schedule, given.timeZone),
			runs: 0,
			cursor: now,
			epoch: 0,
			open: [],
			history: [],
		};
		if (job.enabled && this.#pollLoop.next(job) === undefined)
			throw new JobError(`"${job.name}" ends before its first run.`);
		const { isApplied } = await this.#store.record({ type: "job", job });
		if (!isApplied) throw new JobError(`"${job.name}" was not added: its id is taken, or there are 20000 jobs.`);
		return this.#view(job);
	}

	/** Changes the fields in the patch. Throws `JobError` when there is no such job. */
	async update(id: string, patch: JobPatch<Payload>): Promise<Job<Payload>> {
		const change = validateFields(patch);
		const job = (await this.#store.read()).get(id);
		if (!job) throw unknown(id);
		const { schedule, timeZone } = withoutNulls({ ...job, ...change }) as JobSpec;
		// A time zone does not affect an interval or "in ten minutes".
		const isLocal = job.when.kind !== "every" && !schedule.startsWith("+");
		const mustParse = change.schedule !== undefined || (change.timeZone !== undefined && isLocal);
		const when = mustParse ? { when: this.#parse(schedule, timeZone) } : {};
		const at = this.#clock.now();
		return this.#view(appliedJob(await this.#store.record({ type: "change", id, at, change, ...when }), id));
	}

	/** Active runs continue; waiting runs are skipped. */
	pause(id: string): Promise<Job<Payload>> {
		return this.update(id, { enabled: false });
	}

	/** Due times that passed meanwhile do not count as missed. */
	resume(id: string): Promise<Job<Payload>> {
		return this.update(id, { enabled: true });
	}

	/** `false` when there was no such job. The signals of its runs are aborted. */
	async remove(id: string): Promise<boolean> {
		return (await this.#store.record({ type: "remove", id })).isApplied;
	}

	/** All jobs, oldest first, including those of other processes. */
	async list(): Promise<readonly Job<Payload>[]> {
		const jobs = [...(await this.#store.read()).values()];
		return jobs.sort((a, b) => a.createdAt - b.createdAt).map((job) => this.#view(job));
	}

	/**
	 * Starts a run outside the schedule, also of a paused job, and returns its key. It waits while another run is active, or
	 * throws `JobError` if the job's `overlap` is `skip`.
	 */
	async runNow(id: string): Promise<string> {
		if (this.#state !== "started") throw new JobError("The scheduler is not started.");
		const at = this.#clock.now();
		const runKey = `${id}.now.${at}.${randomUUID().slice(0, 8)}`;
		const { isApplied, job } = await this.#store.record({ type: "call", id, at, owner: this.#owner, runKey });
		if (!job) throw unknown(id);
		if (!isApplied) throw new JobError(`"${job.name}" is already running, and its runs must not overlap.`);
		await this.#pollLoop.check();
		return runKey;
	}

	/** Reads the store, handles missed runs, and waits for due ones. Throws when the store cannot be read. */
	async start(): Promise<void> {
		if (this.#state !== "new") throw new JobError("A scheduler can be started only once.");
		this.#state = "started";
		await this.#pollLoop.start();
	}

	/**
	 * Checks for due runs now instead of at the next timer. Resolves when all of them have been started, by this process or
	 * another. Only needed when the caller knows that something is due.
	 */
	async check(): Promise<void> {
		if (this.#pollLoop.isOn) await this.#pollLoop.check();
	}

	/** Starts no more runs, aborts the signals of runs in this process and waits up to five seconds for them. */
	async stop(): Promise<void> {
		if (this.#state === "stopped") return;
		this.#state = "stopped";
		await this.#pollLoop.stop();
		await this.#activeRuns.stop();
		this.#unwatch();
		this.#listeners.clear();
		await this.#release();
	}

	/** Calls back with the ids of jobs that changed in any process. Returns a function that stops this. */
	subscribe(listener: (ids: readonly string[]) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Lets other schedulers take over the runs that wait. */
	async #release(): Promise<void> {
		const waiting = [...(await this.#store.read()).values()].flatMap(({ id, open }) =>
			open
				.filter(({ owner, startedAt }) => owner === this.#owner && startedAt === undefined)
				.map(({ runKey, token }) => ({ id, runKey, token })),
		);
		const at = this.#clock.now();
		await Promise.all(waiting.map((on) => this.#store.record({ type: "release", at, ...on })));
	}

	#view(job: StoredJob): Job<Payload> {
		return toJob(job, this.#pollLoop.next(job)) as Job<Payload>;
	}

	#parse(schedule: string, timeZone = this.#options.timeZone) {
		return parseSchedule(schedule, { now: this.#clock.now(), ...(timeZone === undefined ? {} : { timeZone }) });
	}
}

function appliedJob({ isApplied, job }: RecordResult, id: string): StoredJob {
	if (!isApplied || !job) throw unknown(id);
	return job;
}

const unknown = (id: string) => new JobError(`There is no job "${id}".`);

const withoutNulls = (fields: object) =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
