/** Schedulers on one store and one clock, and what they fired. */
import { onTestFinished } from "vitest";
import { type Job, type JobRun, type JobSpec, type JobStore, memoryJobStore, Scheduler } from "../../src/index.ts";
import { type HandClock, handClock, START, settle } from "./hand-clock.ts";

export interface World {
	clock: HandClock;
	store: JobStore;
	/** Run keys, in order. */
	fired: string[];
	problems: string[];
	/** Ends the oldest run that works. */
	end: (how?: string | Error) => Promise<void>;
	scheduler: (start?: boolean) => Promise<Scheduler>;
}

/** `isLong`: runs last until a test ends them. */
export function world({ isLong = false, store = memoryJobStore(), clock = handClock() } = {}): World {
	const fired: string[] = [];
	const problems: string[] = [];
	const running: ((how?: string | Error) => void)[] = [];
	const schedulers: Scheduler[] = [];
	let ids = 0;
	onTestFinished(async () => {
		for (const end of running) end();
		await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
		await store.close();
	});
	return {
		clock,
		store,
		fired,
		problems,
		async end(how) {
			running.shift()?.(how);
			await settle();
		},
		async scheduler(start = true) {
			const scheduler = new Scheduler({
				...{ store, clock, timeZone: "UTC", newId: () => `j${++ids}` },
				onProblem: (problem) => problems.push(problem),
				onDue: (_job, runKey) => {
					fired.push(runKey);
					if (!isLong) return;
					return new Promise((resolve, reject) =>
						running.push((how) => (how instanceof Error ? reject(how) : resolve(how))),
					);
				},
			});
			schedulers.push(scheduler);
			if (start) await scheduler.start();
			return scheduler;
		},
	};
}

export const spec = (schedule: string, more: Partial<JobSpec> = {}): JobSpec => ({
	...{ name: "a job", schedule, payload: { task: "x" } },
	...more,
});

/** Seconds after the start of the test's time. */
export const seconds = (at: number | undefined) => (at === undefined ? undefined : (at - START) / 1_000);
export const key = (id: string, second: number) => `${id}.${START + second * 1_000}`;

/** What became of a job's moments, as `second result`. */
export const told = (job: Job | undefined) =>
	(job?.history ?? []).map((run: JobRun) => `${seconds(run.dueAt)} ${run.result}`);
