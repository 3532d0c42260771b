/** Where jobs are kept. */
import { apply, type Entry, idOf, type StoredJob } from "./ledger.ts";

/** What became of an entry. */
export interface Recorded {
	/** Whether `applyEntry` took it at its place in the order. */
	isTaken: boolean;
	/** The job it is about, as it stood right after. */
	job: StoredJob | undefined;
}

/**
 * An agreed order of entries, and the jobs they make. Every store passes the same conformance suite:
 * - `record` resolves when the entry has its place in the order for good;
 * - all who share a store see the same order, and after a crash the same again;
 * - `read` holds everything that was recorded before it was called, by anybody.
 */
export interface JobStore {
	read: () => Promise<ReadonlyMap<string, StoredJob>>;
	record: (entry: Entry) => Promise<Recorded>;
	/** Tells the ids of jobs that have changed. Returns the way to end it. */
	watch: (changed: (ids: readonly string[]) => void) => () => void;
	/** Lets go of files and watchers. What was recorded stays. */
	close: () => Promise<void>;
}

/** Keeps jobs as long as the process lives. Several schedulers may share one. */
export function memoryJobStore(): JobStore {
	const jobs = new Map<string, StoredJob>();
	const listeners = new Set<(ids: readonly string[]) => void>();
	return {
		read: async () => jobs,
		async record(entry) {
			const isTaken = apply(jobs, structuredClone(entry));
			const id = idOf(entry);
			if (isTaken) for (const listener of listeners) listener([id]);
			return { isTaken, job: jobs.get(id) };
		},
		watch(changed) {
			listeners.add(changed);
			return () => listeners.delete(changed);
		},
		close: async () => listeners.clear(),
	};
}
