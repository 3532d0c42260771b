/** A long answer stays in the run's files alone, once it is there: a session may remember thousands of agents. */
import { bestEffort, type Manager, type Outcome, type Report, runIdOf } from "@pi-subagents/core";
import { readResult } from "@pi-subagents/core/process";

export interface FilingDeps {
	manager: Manager;
	/** Resolves when the files hold what has happened so far. */
	flushLogs: () => Promise<void>;
	tell: Report;
}

/** Less is not worth a look at the disk. */
const LONG_CHARACTERS = 4_000;

export function fileLongAnswers({ manager, flushLogs, tell }: FilingDeps): void {
	manager.store.subscribe((event, { id: agentId, run, artifacts }) => {
		if (event.type !== "agent_settled" || artifacts === undefined) return;
		if (saidIn(event.outcome).length < LONG_CHARACTERS) return;
		const runId = runIdOf({ agentId, run });
		void bestEffort("putting a long answer away", tell, async () => {
			await flushLogs();
			if (await isKept(event.outcome, { runId, artifacts })) manager.filed({ agentId, run });
		});
	});
}

/** Files that cannot be read, or say something else, are no reason to forget anything. */
async function isKept(outcome: Outcome, { runId, artifacts }: { runId: string; artifacts: string }): Promise<boolean> {
	const kept = await readResult(artifacts).catch(() => undefined);
	return kept?.runId === runId && kept.outcome.status === outcome.status && saidIn(kept.outcome) === saidIn(outcome);
}

function saidIn(outcome: Outcome): string {
	return (outcome.status === "completed" ? outcome.text : outcome.partialText) ?? "";
}
