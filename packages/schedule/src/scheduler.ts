/** What users of the package hold: adds and changes jobs, and starts and stops the rounds that fire them. */
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";
import { viewOf } from "./due.ts";
import { type Job, JobError, type JobSpec } from "./job.ts";
import type { StoredJob } from "./ledger.ts";
import { Rounds } from "./rounds.ts";
import { parseSchedule } from "./schedule.ts";
import type { JobStore, Recorded } from "./store.ts";
import { checkedFields } from "./valid.ts";
import { Work } from "./work.ts";

export interface SchedulerOptions<Payload = unknown> {
	/** Stays open when the scheduler stops: close it after that. */
	store: JobStore;
	/**
	 * Does the work. The promise settles when the work is over: a string is a note for the history, a rejection is a
	 * failed run. The signal is aborted when the job is removed or the scheduler stops; a run that had not begun by then
	 * rejects with `NotBegun`, and is left to whoever is there next.
	 */
	onDue: (job: Job<Payload>, runKey: string, signal: AbortSignal) => unknown;
	clock?: Clock;
	/** For schedules whose job names none; the machine's own when absent. */
	timeZone?: string;
	/** Told, in a sentence, of whatever went wrong outside a caller's call. */
	onProblem?: (problem: string) => void;
	/** Made of letters, digits, `_` and `-`. */
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
	readonly #work: Work;
	readonly #rounds: Rounds;
	readonly #listeners = new Set<(ids: readonly string[]) => void>();
	readonly #unwatch: () => void;
	#state: "new" | "started" | "stopped" = "new";

	constructor(options: SchedulerOptions<Payload>) {
		const { store, clock = systemClock, onProblem: report = () => undefined } = options;
		this.#options = options;
		this.#store = store;
		this.#clock = clock;
		// What comes out of the store is what this scheduler's user put in.
		const onDue = options.onDue as SchedulerOptions["onDue"];
		this.#work = new Work({ store, clock, onDue, report, view: (job) => this.#view(job) });
		this.#rounds = new Rounds({ store, clock, owner: this.#owner, work: this.#work, report });
		this.#unwatch = store.watch((ids) => {
			this.#rounds.touch(ids);
			for (const listener of this.#listeners) listener(ids);
		});
	}

	/** Throws `ScheduleError` for a schedule that makes no sense, `JobError` for any other field. Works before `start`. */
	async add(spec: JobSpec<Payload>): Promise<Job<Payload>> {
		const now = this.#clock.now();
		const given = withoutNulls(checkedFields(spec)) as JobSpec;
		for (const field of ["name", "schedule", "payload"] as const) {
			if (given[field] === undefined) throw new JobError(`A job needs a "${field}".`);
		}
		const job: StoredJob = {
			...{ overlap: "skip", missed: "latest", jitterMs: 0, enabled: true, tags: [] },
			...given,
			payload: JSON.parse(JSON.stringify(given.payload)),
			id: this.#options.newId?.() ?? randomUUID().replaceAll("-", "").slice(0, 12),
			createdAt: now,
			when: this.#parse(given.schedule, given.timeZone),
			...{ runs: 0, cursor: now, epoch: 0, open: [], history: [] },
		};
		if (job.enabled && this.#rounds.next(job) === undefined)
			throw new JobError(`"${job.name}" ends before it is due once.`);
		const { isTaken } = await this.#store.record({ type: "job", job });
		if (!isTaken) throw new JobError(`"${job.name}" was not added: its id is taken, or there are 20000 jobs.`);
		return this.#view(job);
	}

	/** Changes what the patch names. `JobError` when there is no such job. */
	async update(id: string, patch: JobPatch<Payload>): Promise<Job<Payload>> {
		const change = checkedFields(patch);
		const job = (await this.#store.read()).get(id);
		if (!job) throw unknown(id);
		const { schedule, timeZone } = withoutNulls({ ...job, ...change }) as JobSpec;
		// A time zone says nothing about an interval or about "in ten minutes": they go on as they are.
		const isLocal = job.when.kind !== "every" && !schedule.startsWith("+");
		const isAnew = change.schedule !== undefined || (change.timeZone !== undefined && isLocal);
		const when = isAnew ? { when: this.#parse(schedule, timeZone) } : {};
		const at = this.#clock.now();
		return this.#view(taken(await this.#store.record({ type: "change", id, at, change, ...when }), id));
	}

	/** Runs that are under way go on; those that wait are skipped. */
	pause(id: string): Promise<Job<Payload>> {
		return this.update(id, { enabled: false });
	}

	/** Moments that passed meanwhile are not missed: they were not wanted. */
	resume(id: string): Promise<Job<Payload>> {
		return this.update(id, { enabled: true });
	}

	/** `false` when there was no such job. Runs of it are told by their signal. */
	async remove(id: string): Promise<boolean> {
		return (await this.#store.record({ type: "remove", id })).isTaken;
	}

	/** All jobs, oldest first, with what other processes wrote. */
	async list(): Promise<readonly Job<Payload>[]> {
		const jobs = [...(await this.#store.read()).values()];
		return jobs.sort((a, b) => a.createdAt - b.createdAt).map((job) => this.#view(job));
	}

	/**
	 * Starts a run outside the schedule, also of a paused job, and returns its key. While another one works it waits
	 * behind it, or throws `JobError` if the job's `overlap` is `skip`.
	 */
	async runNow(id: string): Promise<string> {
		if (this.#state !== "started") throw new JobError("Nothing can be run by a scheduler that is not started.");
		const at = this.#clock.now();
		const runKey = `${id}.now.${at}.${randomUUID().slice(0, 8)}`;
		const { isTaken, job } = await this.#store.record({ type: "call", id, at, owner: this.#owner, runKey });
		if (!job) throw unknown(id);
		if (!isTaken) throw new JobError(`"${job.name}" works right now, and its runs must not overlap.`);
		await this.#rounds.check();
		return runKey;
	}

	/** Reads the store, sees to what was missed, and waits for what is due. Throws when the store cannot be read. */
	async start(): Promise<void> {
		if (this.#state !== "new") throw new JobError("A scheduler is started once.");
		this.#state = "started";
		await this.#rounds.start();
	}

	/**
	 * Looks now, and not when the timer says so. Resolves when everything that was due has been started, here or elsewhere.
	 * There is no need to call it, except where somebody knows better than a timer.
	 */
	async check(): Promise<void> {
		if (this.#rounds.isOn) await this.#rounds.check();
	}

	/** Fires nothing more, aborts the signals of runs in this process and waits up to five seconds for them. */
	async stop(): Promise<void> {
		if (this.#state === "stopped") return;
		this.#state = "stopped";
		await this.#rounds.stop();
		await this.#work.stop();
		this.#unwatch();
		this.#listeners.clear();
		await this.#release();
	}

	/** Tells the ids of jobs that changed, here or in another process. Returns the way to end it. */
	subscribe(listener: (ids: readonly string[]) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** What waits for its start is anybody's from now on. */
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
		return viewOf(job, this.#rounds.next(job)) as Job<Payload>;
	}

	#parse(schedule: string, timeZone = this.#options.timeZone) {
		return parseSchedule(schedule, { now: this.#clock.now(), ...(timeZone === undefined ? {} : { timeZone }) });
	}
}

function taken({ isTaken, job }: Recorded, id: string): StoredJob {
	if (!isTaken || !job) throw unknown(id);
	return job;
}

const unknown = (id: string) => new JobError(`There is no job "${id}".`);

const withoutNulls = (fields: object) =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
