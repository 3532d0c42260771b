/** After a restart the session knows only how an answer begins; all of it is in the run's files. */
import { type AgentRecord, type Outcome, runIdOf } from "@pi-subagents/core";
import { readResult } from "@pi-subagents/core/process";

/** Without its files, or with those of something else, what is known has to do. */
export async function wholeOutcome({ id: agentId, run, artifacts }: AgentRecord, known: Outcome): Promise<Outcome> {
	const kept = artifacts === undefined ? undefined : await readResult(artifacts).catch(() => undefined);
	const isSame = kept?.runId === runIdOf({ agentId, run }) && kept.outcome.status === known.status;
	return isSame ? kept.outcome : known;
}
