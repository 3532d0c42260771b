/** The whole outcome of a run: a record may hold only the start of an answer, the files all of it. */

import type { AgentRecord } from "@pi-subagents/core";
import { runIdOf } from "@pi-subagents/core";
import { lostText } from "@pi-subagents/core/outcome-text";
import type { Outcome } from "@pi-subagents/progress";
import type { ResultFile } from "../format/result.ts";
import { readMeta } from "../read.ts";
import { readCheckedResult } from "./checked-result.ts";

/**
 * Takes what is left out of the known outcome from the run's file, and nothing else: the file may say anything. Without
 * a matching file, the known outcome, with a note if it is incomplete.
 */
export async function wholeOutcome(record: AgentRecord, known: Outcome): Promise<Outcome> {
	const file = await resultFileOf(record, known);
	return (file && filledFrom(file.outcome, known)) ?? sayingWhatIsLost(known);
}

/** The run's result file, if it matches this run and outcome. */
export async function resultFileOf(
	{ id: agentId, run, artifacts }: AgentRecord,
	known: Outcome,
): Promise<ResultFile | undefined> {
	if (artifacts === undefined) return undefined;
	const meta = await readMeta(artifacts);
	const spec = typeof meta === "string" ? undefined : meta.spec;
	// What the check of a file with a command says about itself does not matter: the known outcome has that.
	const asked = spec && { runner: spec.runner, ...(spec.output ? { output: spec.output } : {}) };
	const file = asked && (await readCheckedResult(artifacts, asked).catch(() => undefined));
	const isSame = file?.runId === runIdOf({ agentId, run }) && continues(file.outcome, known);
	return isSame ? file : undefined;
}

/** The known outcome with all of what was said, as a file has it. Undefined if that is about another end. */
export function filledFrom(filed: Outcome, known: Outcome): Outcome | undefined {
	if (!continues(filed, known)) return undefined;
	const { omitted: _none, ...rest } = known;
	if (rest.status === "completed" && filed.status === "completed") {
		const { structured = filed.structured } = rest;
		return { ...rest, text: filed.text, ...(structured ? { structured } : {}) };
	}
	const said = saidIn(filed);
	return (said === undefined ? rest : { ...rest, partialText: said }) as Outcome;
}

/** A file that tells another story than what is known was changed. */
function continues(filed: Outcome, known: Outcome): boolean {
	const [all = "", start = ""] = [saidIn(filed), saidIn(known)];
	if (filed.status !== known.status || !all.startsWith(start)) return false;
	// Entries of older versions hold the beginning only, and do not say how much follows.
	return all.length === start.length + (known.omitted ?? 0) || (!known.omitted && start.length >= OLD_PREVIEW);
}

const OLD_PREVIEW = 490;

function saidIn(outcome: Outcome): string | undefined {
	return outcome.status === "completed" ? outcome.text : outcome.partialText;
}

function sayingWhatIsLost(known: Outcome): Outcome {
	if (!known.omitted) return known;
	const note = `\n\n[${lostText(known.omitted)}]`;
	return known.status === "completed"
		? { ...known, text: known.text + note }
		: { ...known, partialText: (known.partialText ?? "") + note };
}
