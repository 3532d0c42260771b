/** The runs that outlive the session, and how many there are in each state. */
import { type AgentRecord, runIdOf, type Store } from "@pi-subagents/core";
import { isSettled } from "@pi-subagents/progress";
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
	const detached = store.currentRecords().filter(({ outlives }) => outlives);
	if (detached.length === 0) return []; // finding the branch takes longer the longer the session is
	const branch = new Set(journal.branch());
	return detached.filter(({ id: agentId, run }) => {
		const entry = journal.entryOf(runIdOf({ agentId, run }));
		return entry !== undefined && branch.has(entry);
	});
}

export function countsOf(records: readonly AgentRecord[]): Counts {
	const counts: Counts = { running: 0, completed: 0, failed: 0, aborted: 0, total: records.length };
	for (const { status } of records) counts[isSettled(status) ? status : "running"]++;
	return counts;
}
