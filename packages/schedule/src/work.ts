/** The runs of this process: begun once their start is recorded, and recorded when they end. */
import type { Clock } from "./clock.ts";
import { type Job, NotBegun } from "./job.ts";
import type { OpenRun, StoredJob } from "./ledger.ts";
import type { JobStore } from "./store.ts";

const STOP_MS = 5_000;
const LONGEST_NOTE = 500;

export interface WorkOptions {
	store: JobStore;
	clock: Clock;
	onDue: (job: Job, runKey: string, signal: AbortSignal) => unknown;
	view: (job: StoredJob) => Job;
	report: (problem: string) => void;
}

export class Work {
	readonly #options: WorkOptions;
	readonly #runs = new Map<string, { id: string; abort: AbortController; over: Promise<void> }>();

	constructor(options: WorkOptions) {
		this.#options = options;
	}

	has(runKey: string): boolean {
		return this.#runs.has(runKey);
	}

	/**
	 * The start has its place in the store before the work begins: so nobody else begins it, whatever happens here.
	 * Returns the job as it stands then.
	 */
	async start({ id }: StoredJob, { runKey, token }: OpenRun): Promise<StoredJob | undefined> {
		const { store, clock, view } = this.#options;
		const on = { id, runKey, token };
		const { isTaken, job } = await store.record({ type: "start", at: clock.now(), ...on });
		if (!isTaken || !job) return job;
		const abort = new AbortController();
		const over = this.#run(view(job), on, abort.signal).finally(() => this.#runs.delete(runKey));
		this.#runs.set(runKey, { id, abort, over });
		return job;
	}

	/** Tells the runs of a job that nobody wants them any more. */
	abort(id: string): void {
		for (const run of this.#runs.values()) if (run.id === id) run.abort.abort();
	}

	/** Tells all runs, and waits for them, but not for ever: what has not ended then is lost when its claim runs out. */
	async stop(): Promise<void> {
		for (const { abort } of this.#runs.values()) abort.abort();
		const { promise: late, resolve } = Promise.withResolvers<void>();
		const cancel = this.#options.clock.after(STOP_MS, resolve);
		await Promise.race([Promise.all([...this.#runs.values()].map(({ over }) => over)), late]);
		cancel();
	}

	async #run(job: Job, on: { id: string; runKey: string; token: number }, signal: AbortSignal): Promise<void> {
		const { store, clock, report } = this.#options;
		const how = await this.#outcome(job, on.runKey, signal);
		const at = clock.now();
		try {
			const { isTaken, job: left } = await store.record(
				how === "not begun" ? { type: "release", at, ...on } : { type: "end", at, ...how, ...on },
			);
			if (!isTaken && left) report(`"${job.name}" ended after it had been given up as lost (${on.runKey}).`);
		} catch (error) {
			report(`How "${job.name}" ended could not be recorded (${on.runKey}): ${error}`);
		}
	}

	async #outcome(job: Job, runKey: string, signal: AbortSignal) {
		try {
			const note = await this.#options.onDue(job, runKey, signal);
			return { result: "done" as const, ...noted(note) };
		} catch (error) {
			if (error instanceof NotBegun && signal.aborted) return "not begun" as const;
			return { result: "failed" as const, ...noted(error instanceof Error ? error.message : String(error)) };
		}
	}
}

function noted(note: unknown): { note?: string } {
	return typeof note === "string" && note !== "" ? { note: note.slice(0, LONGEST_NOTE) } : {};
}
