/** The whole outcome of a run: a record may hold only the start of an answer, the files all of it. */

import type { Outcome } from "@pi-subagents/progress";
import { formatCount } from "@pi-subagents/progress";
import type { AgentRecord } from "../model/record.ts";
import { runIdOf } from "../model/runner.ts";
import type { ResultFile } from "../runs/format/layout.ts";
import { readResult } from "../runs/read.ts";

/** Without matching files, the known outcome, with a note if it is incomplete. */
export async function wholeOutcome(record: AgentRecord, known: Outcome): Promise<Outcome> {
	return (await resultFileOf(record, known))?.outcome ?? sayingWhatIsLost(known);
}

/** The run's result file, if it matches this run and outcome. */
export async function resultFileOf(
	{ id: agentId, run, artifacts }: AgentRecord,
	known: Outcome,
): Promise<ResultFile | undefined> {
	const file = artifacts === undefined ? undefined : await readResult(artifacts).catch(() => undefined);
	const isSame = file?.runId === runIdOf({ agentId, run }) && file.outcome.status === known.status;
	return isSame ? file : undefined;
}

function sayingWhatIsLost(known: Outcome): Outcome {
	if (!known.omitted) return known;
	const note = `\n\n[${lostText(known.omitted)}]`;
	return known.status === "completed"
		? { ...known, text: known.text + note }
		: { ...known, partialText: (known.partialText ?? "") + note };
}

/** For text that neither the session nor a file holds. */
export function lostText(characters: number): string {
	return `${formatCount(characters, "more character")} of it are lost: result.json was not written, or is gone.`;
}
