/** The runs that outlive the session, and how many there are in each state. */
import { type AgentRecord, isSettled, runIdOf, type Store } from "@pi-subagents/core";
import type { Journal } from "./journal/journal.ts";

/** Runs that wait, in the queue or for an answer, count as running. */
export interface Counts {
	running: number;
	completed: number;
	failed: number;
	aborted: number;
	total: number;
}

/** The runs that outlive the session and were launched on its current branch. */
export function backgroundRecords(store: Store, journal: Journal): AgentRecord[] {
	const branch = new Set(journal.branch());
	return store.currentRecords().filter(({ id: agentId, run, outlives }) => {
		const entry = outlives ? journal.entryOf(runIdOf({ agentId, run })) : undefined;
		return entry !== undefined && branch.has(entry);
	});
}

export function countsOf(records: readonly AgentRecord[]): Counts {
	const counts: Counts = { running: 0, completed: 0, failed: 0, aborted: 0, total: records.length };
	for (const { status } of records) counts[isSettled(status) ? status : "running"]++;
	return counts;
}
