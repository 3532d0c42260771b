/** The runs of this process: a run starts after its start is recorded, and its end is recorded as well. */

import { type Job, NotBegun } from "../jobs/job.ts";
import type { OpenRun, StoredJob } from "../jobs/job-reducer.ts";
import type { Clock } from "../rules/clock.ts";
import type { JobStore } from "../store/store.ts";

const STOP_MS = 5_000;
const MAX_NOTE = 500;

export interface ActiveRunsOptions {
	store: JobStore;
	clock: Clock;
	onDue: (job: Job, runKey: string, signal: AbortSignal) => unknown;
	view: (job: StoredJob) => Job;
	report: (problem: string) => void;
}

export class ActiveRuns {
	readonly #options: ActiveRunsOptions;
	readonly #runs = new Map<string, { id: string; abort: AbortController; over: Promise<void> }>();

	constructor(options: ActiveRunsOptions) {
		this.#options = options;
	}

	has(runKey: string): boolean {
		return this.#runs.has(runKey);
	}

	/**
	 * Records the start before the work begins, so that no other process starts it, even if this one crashes.
	 * Returns the updated job.
	 */
	async start({ id }: StoredJob, { runKey, token }: OpenRun): Promise<StoredJob | undefined> {
		const { store, clock, view } = this.#options;
		const on = { id, runKey, token };
		const { isApplied, job } = await store.record({ type: "start", at: clock.now(), ...on });
		if (!isApplied || !job) return job;
		const abort = new AbortController();
		const over = this.#run(view(job), on, abort.signal).finally(() => this.#runs.delete(runKey));
		this.#runs.set(runKey, { id, abort, over });
		return job;
	}

	/** Aborts the runs of a job. */
	abort(id: string): void {
		for (const run of this.#runs.values()) if (run.id === id) run.abort.abort();
	}

	/** Aborts all runs and waits for them for a limited time. Later ones count as lost when their claim expires. */
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
			const { isApplied, job: left } = await store.record(
				how === "not begun" ? { type: "release", at, ...on } : { type: "end", at, ...how, ...on },
			);
			if (!isApplied && left) report(`"${job.name}" ended after it was recorded as lost (${on.runKey}).`);
		} catch (error) {
			report(`The end of "${job.name}" could not be recorded (${on.runKey}): ${error}`);
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
	return typeof note === "string" && note !== "" ? { note: note.slice(0, MAX_NOTE) } : {};
}
