/**
 * Whether the files of a run hold its answer. If they do, a long answer leaves the record, since a session may remember
 * thousands of agents; and a session that has not received the answer yet may rely on the file.
 */
import { type AgentRecord, type Manager, type Outcome, type Report, runIdOf } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { readResult } from "@pi-subagents/runs";
import { dataIn, saidIn } from "./entry-content.ts";

export interface ResultArchiveDeps {
	manager: Manager;
	/** Resolves when the files hold what has happened so far. */
	flushLogs: () => Promise<void>;
	warn: Report;
}

export interface ResultArchive {
	/** Whether it is worth a look at the disk; what is not fits an entry of the session. */
	isLong(outcome: Outcome): boolean;
	/** Resolves when the run's files are on the disk, with whether they hold the whole answer. Never rejects. */
	isFiled(record: AgentRecord, outcome: Outcome): Promise<boolean>;
}

const LONG_CHARACTERS = 4_000;

export function archiveLongResults({ manager, flushLogs, warn }: ResultArchiveDeps): ResultArchive {
	/** Checks in progress. */
	const checks = new Map<string, Promise<boolean>>();
	const check = async (runId: string, artifacts: string, outcome: Outcome): Promise<boolean> => {
		let isThere = false;
		await bestEffort("moving a long answer to its file", warn, async () => {
			// A run in its own process has written it, and need not wait for the files of those in this one.
			isThere = await isKept(outcome, { runId, artifacts });
			if (isThere) return;
			await flushLogs();
			isThere = await isKept(outcome, { runId, artifacts });
		});
		checks.delete(runId);
		return isThere;
	};
	const isFiled = async ({ id: agentId, run, artifacts }: AgentRecord, outcome: Outcome): Promise<boolean> => {
		if (artifacts === undefined) return false;
		const runId = runIdOf({ agentId, run });
		const checking = checks.get(runId) ?? check(runId, artifacts, outcome);
		checks.set(runId, checking);
		return checking;
	};
	const isLong = (outcome: Outcome) => Math.max(saidIn(outcome).length, dataIn(outcome).length) >= LONG_CHARACTERS;
	manager.store.subscribe(({ event, record }) => {
		if (event.type !== "agent_settled" || record.artifacts === undefined || !isLong(event.outcome)) return;
		const { id: agentId, run } = record;
		void isFiled(record, event.outcome).then((isThere) => {
			if (isThere) manager.markArchived({ agentId, run });
		});
	});
	return { isLong, isFiled };
}

/** Files that cannot be read, or say something else, are no reason to forget anything. */
async function isKept(outcome: Outcome, { runId, artifacts }: { runId: string; artifacts: string }): Promise<boolean> {
	const kept = await readResult(artifacts).catch(() => undefined);
	return kept?.runId === runId && kept.outcome.status === outcome.status && isSameAnswer(kept.outcome, outcome);
}

function isSameAnswer(one: Outcome, other: Outcome): boolean {
	return saidIn(one) === saidIn(other) && dataIn(one) === dataIn(other);
}
