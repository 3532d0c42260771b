/**
 * What may be taken from an outcome that another process, a file or a machine gives: only what the run's spec asked for,
 * field by field. What it cannot prove is marked as its claim, or left out. Pure, except for the check of a schema.
 */

import type { Clock, RunSpec } from "@pi-subagents/core";
import { clip, defined } from "@pi-subagents/core/internal/base";
import type { VerifySpec } from "@pi-subagents/core/internal/run";
import { checkAnswer, judgeJson } from "@pi-subagents/core/internal/run";
import { commandText } from "@pi-subagents/core/shell";
import type {
	Aborted,
	ClaimedBy,
	Completed,
	Failed,
	Outcome,
	Structured,
	Unstructured,
	Verification,
} from "@pi-subagents/progress";
import { claimText, sanitize } from "@pi-subagents/progress";

/** The parts of a spec that decide what an outcome may have. */
export type AskedFor = Pick<RunSpec, "runner" | "machine" | "output" | "verify" | "isolation">;

/**
 * Where an outcome came from, which its reader knows. `ours`: a process of ours on this machine wrote it, and the agent
 * could not have changed it since. What that process itself had only heard, it has marked as such (`claimedBy`).
 */
export type ClaimSource = "ours" | ClaimedBy;

const MAX_CAUSE = 10_000;
const MAX_COMMAND = 200;
const MAX_PROBLEM = 300;
/** A year. */
const MAX_MS = 366 * 24 * 60 * 60 * 1_000;

/** Never has more than the spec asked for. */
export async function checkedOutcome(
	outcome: Outcome,
	spec: AskedFor,
	source: ClaimSource,
	clock: Clock,
): Promise<Outcome> {
	switch (outcome.status) {
		case "completed":
			return source === "ours" ? ownCompleted(outcome, spec) : claimedCompleted(outcome, spec, source, clock);
		case "failed":
			return checkedFailed(outcome, spec, source);
		case "aborted":
			return checkedAborted(outcome, spec, source);
	}
}

/** On another machine every agent has its own. */
function checkoutIn({ worktree }: Outcome, { isolation, runner }: AskedFor) {
	return defined({ worktree: isolation || runner === "remote" ? worktree : undefined });
}

/** The command of a spec on one line, as it is shown. Undefined: none checks the work. */
export function shownCommand({ verify }: Pick<RunSpec, "verify">): string | undefined {
	return verify && "command" in verify ? clip(sanitize(commandText(verify.command)), MAX_COMMAND) : undefined;
}

function ownCompleted(outcome: Completed, spec: AskedFor): Outcome {
	const { structured } = outcome;
	const isStructured = spec.output !== undefined || (spec.verify && "command" in spec.verify && spec.verify.output);
	const verification = ownVerification(outcome.verification, spec);
	if (shownCommand(spec) !== undefined && !verification?.ok) return unverified(outcome, spec, "it does not say so");
	return {
		...answerIn(outcome),
		...(isStructured && structured ? { structured } : {}),
		...defined({ verification }),
		...checkoutIn(outcome, spec),
	};
}

/** The spec says which command it was. */
function ownVerification(given: Verification | undefined, spec: AskedFor): Verification | undefined {
	const { verify } = spec;
	if (verify && "skipped" in verify) return { ok: false, problem: verify.skipped };
	const command = shownCommand(spec);
	if (command === undefined || !given) return undefined;
	const { ok, problem, tail } = given;
	const on = spec.runner === "remote" ? spec.machine : undefined;
	return { ok, command, ...defined({ on, durationMs: duration(given.durationMs), problem, tail }) };
}

/** The answer is checked again. That a command has passed is believed of a machine, by its name, and of no file. */
async function claimedCompleted(outcome: Completed, spec: AskedFor, source: ClaimedBy, clock: Clock): Promise<Outcome> {
	const { checked } = await checkAnswer(answerIn(outcome), spec.output, clock);
	const { verify } = spec;
	if (checked.status !== "completed" || !verify) return checked;
	if ("skipped" in verify) return { ...checked, verification: { ok: false, problem: verify.skipped } };
	if (source === "file")
		return unverified(outcome, spec, "its file says so, and nothing that the agent cannot write confirms it");
	if (!outcome.verification?.ok) return unverified(outcome, spec, "its machine does not say so");
	const printed = await printedBy(verify, outcome, clock);
	if (printed && !printed.ok) return unverified(outcome, spec, printed.error);
	const verification = ownVerification({ ok: true, ...durationIn(outcome.verification) }, spec);
	return { ...checked, ...defined({ verification, structured: printed }) };
}

/** What the command printed, if that is the run's result. */
async function printedBy(
	verify: VerifySpec,
	{ structured }: Completed,
	clock: Clock,
): Promise<Structured | Unstructured | undefined> {
	if (verify.output !== "json") return undefined;
	return judgeJson(JSON.stringify(structured?.data ?? null), verify.schema, { clock });
}

/** No run that must be verified completes otherwise. Resuming the agent runs the check again. */
function unverified({ text }: Completed, spec: AskedFor, why: string): Failed {
	const command = shownCommand(spec) ?? "";
	const problem = `that ${command} succeeded is not confirmed: ${why}`;
	return {
		status: "failed",
		error: `Not verified: ${problem}`,
		partialText: text,
		verification: { ok: false, command, problem },
	};
}

function checkedFailed(outcome: Failed, spec: AskedFor, source: ClaimSource): Failed {
	const { error, partialText } = outcome;
	const structured = spec.output || spec.verify ? outcome.structured : undefined;
	return {
		status: "failed",
		error: error.slice(0, MAX_CAUSE),
		...claimant(outcome, source),
		...defined({ partialText, verification: failedVerification(outcome, spec, source) }),
		...(source === "ours" ? { ...defined({ structured }), ...checkoutIn(outcome, spec) } : {}),
	};
}

/** A file cannot say that a command ran. Why it failed, a machine may say in its own words. */
function failedVerification({ verification }: Failed, spec: AskedFor, source: ClaimSource): Verification | undefined {
	if (source === "file" || shownCommand(spec) === undefined || !verification) return undefined;
	const { problem, ...rest } = verification;
	const isTheirs = source === "machine" && problem !== undefined;
	const why = isTheirs ? claimText(clip(sanitize(problem), MAX_PROBLEM), source) : problem;
	return ownVerification({ ...rest, ok: false, ...defined({ problem: why }) }, spec);
}

function checkedAborted(outcome: Aborted, spec: AskedFor, source: ClaimSource): Aborted {
	const { by, reason, partialText } = outcome;
	return {
		status: "aborted",
		by,
		...claimant(outcome, source),
		...defined({ reason: reason?.slice(0, MAX_CAUSE), partialText }),
		...(source === "ours" ? checkoutIn(outcome, spec) : {}),
	};
}

/** A claim stays one: a process of ours that passes it on does not confirm it. */
function claimant({ claimedBy }: Failed | Aborted, source: ClaimSource): { claimedBy?: ClaimedBy } {
	return source === "ours" ? defined({ claimedBy }) : { claimedBy: source };
}

function answerIn({ text, wrappedUp, by }: Completed): Completed {
	return { status: "completed", text, ...(wrappedUp ? { wrappedUp, ...defined({ by }) } : {}) };
}

function durationIn({ durationMs }: Verification): Pick<Verification, "durationMs"> {
	return defined({ durationMs: duration(durationMs) });
}

function duration(ms: number | undefined): number | undefined {
	return ms !== undefined && Number.isFinite(ms) && ms >= 0 && ms <= MAX_MS ? ms : undefined;
}
