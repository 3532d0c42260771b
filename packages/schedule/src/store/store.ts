/** The port for storing jobs, and a store in memory. */
import { applyEntry, idOf, type JobEntry, type StoredJob } from "../jobs/job-reducer.ts";

/** What happened to an entry. */
export interface RecordResult {
	/** Whether it was valid at its position in the order. */
	isApplied: boolean;
	/** The job it is about, right after the entry. */
	job: StoredJob | undefined;
}

/**
 * An ordered log of entries and the resulting jobs. Every store passes the same conformance suite:
 * - `record` resolves when the position of the entry is final;
 * - all processes that share a store see the same order, also after a crash;
 * - `read` includes everything that any process recorded before the call.
 */
export interface JobStore {
	read: () => Promise<ReadonlyMap<string, StoredJob>>;
	record: (entry: JobEntry) => Promise<RecordResult>;
	/** Calls back with the ids of changed jobs. Returns a function that stops this. */
	watch: (changed: (ids: readonly string[]) => void) => () => void;
	/** Closes files and watchers. Recorded entries stay. */
	close: () => Promise<void>;
}

/** Keeps jobs in memory. Several schedulers may share one. */
export function memoryJobStore(): JobStore {
	const jobs = new Map<string, StoredJob>();
	const listeners = new Set<(ids: readonly string[]) => void>();
	return {
		read: async () => jobs,
		async record(entry) {
			const isApplied = applyEntry(jobs, structuredClone(entry));
			const id = idOf(entry);
			if (isApplied) for (const listener of listeners) listener([id]);
			return { isApplied, job: jobs.get(id) };
		},
		watch(changed) {
			listeners.add(changed);
			return () => listeners.delete(changed);
		},
		close: async () => listeners.clear(),
	};
}
