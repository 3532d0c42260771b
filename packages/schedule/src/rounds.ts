/**
 * Sees to the jobs of a store: takes what is due, renews what is held, gives up what others left, starts what may start.
 * `due` decides what is to be done about a job, the store who got it. One timer, whatever the number of jobs.
 */
import { Agenda } from "./agenda.ts";
import type { Clock } from "./clock.ts";
import { delayOf, isFresh, isWorthRetaking, leaseLook, mustRewind, nextDue, startable, taking } from "./due.ts";
import { type Entry, isGivenUp, LEASE_MS, type OpenRun, type StoredJob } from "./ledger.ts";
import type { JobStore } from "./store.ts";
import type { Work } from "./work.ts";

/**
 * The longest wait between two looks. A machine that slept and a clock that was set are noticed within it, and so is what
 * other processes wrote where the file system cannot tell. It costs one timer and one question to the system.
 */
const LOOK_MS = 30_000;
const RETRY_MS = 5_000;
/** Jobs that are seen to at once; between two such groups others have their turn. */
const GROUP = 500;

export interface RoundsOptions {
	store: JobStore;
	clock: Clock;
	/** Names this scheduler in its claims. A restarted process is somebody else. */
	owner: string;
	work: Work;
	report: (problem: string) => void;
}

export class Rounds {
	readonly #store: JobStore;
	readonly #clock: Clock;
	readonly #owner: string;
	readonly #work: Work;
	readonly #report: (problem: string) => void;
	readonly #agenda = new Agenda();
	readonly #nexts = new Map<string, { of: string; next: number | undefined }>();
	/** Jobs that changed since the last look. */
	readonly #touched = new Set<string>();
	#jobs: ReadonlyMap<string, StoredJob> = new Map();
	#isOn = false;
	#looking: Promise<void> | undefined;
	#mustLook = false;
	#cancelTimer: () => void = () => undefined;
	#lastLook = 0;
	#plannedLook = 0;
	/** After a sleep or a jump of the clock others must have had the time to renew their claims. */
	#patientUntil = 0;

	constructor({ store, clock, owner, work, report }: RoundsOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#owner = owner;
		this.#work = work;
		this.#report = report;
	}

	get isOn(): boolean {
		return this.#isOn;
	}

	async start(): Promise<void> {
		this.touch([...(await this.#store.read()).keys()]);
		this.#lastLook = this.#plannedLook = this.#clock.now();
		this.#isOn = true;
		await this.check();
	}

	async stop(): Promise<void> {
		this.#isOn = false;
		this.#cancelTimer();
		await this.#looking;
	}

	/** These jobs have changed. */
	touch(ids: readonly string[]): void {
		for (const id of ids) this.#touched.add(id);
		if (this.#isOn) void this.check();
	}

	/** Looks now. Resolves when everything that was due has been started, here or elsewhere. */
	check(): Promise<void> {
		this.#mustLook = true;
		this.#looking ??= this.#lookUntilDone().then(() => {
			this.#looking = undefined;
			if (this.#mustLook && this.#isOn) return this.check();
			this.#arm();
		});
		return this.#looking;
	}

	/** When a job is due next, without its delay. Asking a pattern costs more than everything else here. */
	next(job: StoredJob): number | undefined {
		const { schedule, timeZone, cursor, epoch, endsAt, maxRuns, runs, enabled, open } = job;
		const of = [schedule, timeZone, cursor, epoch, endsAt, enabled, maxRuns && [maxRuns, runs, open.length]].join();
		const known = this.#nexts.get(job.id);
		if (known?.of === of) return known.next;
		const next = nextDue(job);
		this.#nexts.set(job.id, { of, next });
		return next;
	}

	async #lookUntilDone(): Promise<void> {
		while (this.#mustLook && this.#isOn) {
			this.#mustLook = false;
			try {
				await this.#look();
			} catch (error) {
				this.#report(`Jobs could not be looked at, and will be again: ${error}`);
			}
		}
	}

	async #look(): Promise<void> {
		this.#jobs = await this.#store.read();
		const now = this.#clock.now();
		this.#noticeJump(now);
		this.#lastLook = this.#plannedLook = now;
		for (const id of this.#touched) this.#note(id, now);
		this.#touched.clear();
		const ids = this.#agenda.takeUntil(now);
		for (let from = 0; from < ids.length; from += GROUP) {
			await Promise.all(ids.slice(from, from + GROUP).map((id) => this.#see(id)));
		}
	}

	/** Timers stand still while a machine sleeps, and know nothing of a clock that was set. */
	#noticeJump(now: number): void {
		if (now <= this.#plannedLook + LOOK_MS && now >= this.#lastLook - 1_000) return;
		this.#patientUntil = now + LEASE_MS;
		for (const id of this.#jobs.keys()) this.#touched.add(id);
	}

	/** Puts down when a job wants to be looked at. */
	#note(id: string, now: number): void {
		const job = this.#jobs.get(id);
		this.#agenda.set(id, job && this.#wanted(job, now));
		if (job) return;
		this.#nexts.delete(id);
		this.#work.abort(id);
	}

	#wanted(job: StoredJob, now: number): number | undefined {
		const next = this.next(job);
		if (mustRewind(job, next, now) || startable(job, this.#owner).length > 0) return now;
		const dueAt = next === undefined ? Number.POSITIVE_INFINITY : next + delayOf(job);
		const lease = leaseLook(job, (run) => this.#isMine(run), { now, patientUntil: this.#patientUntil });
		const wanted = Math.min(dueAt, lease);
		return wanted === Number.POSITIVE_INFINITY ? undefined : wanted;
	}

	/** A run of this scheduler whose end could not be recorded is nobody's any more. */
	#isMine({ owner, startedAt, runKey }: OpenRun): boolean {
		return owner === this.#owner && (startedAt === undefined || this.#work.has(runKey));
	}

	/** Sees to one job, and has it noted again as it stands then. */
	async #see(id: string): Promise<void> {
		const before = this.#jobs.get(id);
		if (!before) return;
		try {
			let job = await this.#renew(before);
			job = await this.#giveUp(job, { isStarted: true }); // what is due next may wait for their end
			job = await this.#take(job);
			job = await this.#giveUp(job, { isStarted: false }); // and only now is it known which moment is the latest
			for (const run of startable(job, this.#owner)) if (this.#isOn) job = (await this.#work.start(job, run)) ?? job;
			if (job === before) throw new Error("nothing could be done"); // or it would be seen to again and again
			this.#touched.add(id);
			this.#mustLook = true;
		} catch (error) {
			this.#report(`"${before.name}" could not be seen to, and will be again: ${error}`);
			this.#agenda.set(id, this.#clock.now() + RETRY_MS);
		}
	}

	async #renew(job: StoredJob): Promise<StoredJob> {
		let current = job;
		for (const run of job.open) {
			const at = this.#clock.now();
			if (!this.#isMine(run) || isFresh(run, at)) continue;
			current = await this.#say(current, { type: "renew", id: job.id, runKey: run.runKey, token: run.token, at });
		}
		return current;
	}

	async #giveUp(job: StoredJob, { isStarted }: { isStarted: boolean }): Promise<StoredJob> {
		let current = job;
		for (const run of job.open) {
			const at = this.#clock.now();
			if (this.#isMine(run) || (run.startedAt !== undefined) !== isStarted) continue;
			if (at < this.#patientUntil || !isGivenUp(run, at)) continue;
			const on = { id: job.id, runKey: run.runKey, token: run.token, at };
			current = await this.#say(current, isStarted ? { type: "lose", ...on } : this.#orphan(current, run, on));
		}
		return current;
	}

	/** A moment that its owner took and did not start: the job's policy for missed ones says what becomes of it. */
	#orphan(job: StoredJob, run: OpenRun, on: { id: string; runKey: string; token: number; at: number }): Entry {
		if (isWorthRetaking(job, run)) return { type: "retake", owner: this.#owner, ...on };
		return { type: "pass", result: "missed", note: "its process ended before it could start it", ...on };
	}

	async #take(job: StoredJob): Promise<StoredJob> {
		const at = this.#clock.now();
		const { id, cursor, epoch } = job;
		const next = this.next(job);
		if (mustRewind(job, next, at)) return this.#say(job, { type: "rewind", id, at, cursor, epoch });
		if (next === undefined || next + delayOf(job) > at) return job;
		return this.#say(job, { type: "take", id, at, owner: this.#owner, cursor, epoch, ...taking(job, next, at) });
	}

	async #say(job: StoredJob, entry: Entry): Promise<StoredJob> {
		return this.#isOn ? ((await this.#store.record(entry)).job ?? job) : job;
	}

	#arm(): void {
		this.#cancelTimer();
		if (!this.#isOn) return;
		const now = this.#clock.now();
		const wait = Math.max(0, Math.min((this.#agenda.earliest() ?? Number.POSITIVE_INFINITY) - now, LOOK_MS));
		this.#plannedLook = now + wait;
		this.#cancelTimer = this.#clock.after(wait, () => void this.check());
	}
}
