/** What the model reads about a run that has settled: the answer, then who gave it, how it ended, and what can be done next. */
import type { AgentRecord, Outcome } from "@pi-subagents/core";
import { formatCount, outcomeText, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { worktreeLines } from "../worktree-text.ts";
import { detailsOf } from "./details.ts";
import { attemptsText, complaints, proseIn, restText, structuredElement } from "./structured.ts";

/** More would crowd the parent's context; the rest is in the run's files. */
const MOST_CHARACTERS = 50_000;

/** `warnings` are how the request was understood, where that is not obvious. */
export function reportFor(outcome: Outcome, record: AgentRecord, warnings: readonly string[] = []): string {
	const trailer = trailerFor(outcome, record, warnings);
	const worktree = worktreeLines(outcome.worktree);
	const checkout = worktree.length > 0 ? [worktree.join("\n")] : [];
	if (outcome.status === "completed") return [...answer(outcome, record), ...checkout, trailer].join("\n\n");
	const wrong = complaints(outcome);
	return [
		[trailer, ...wrong].join("\n"),
		...checkout,
		...(outcome.partialText === undefined
			? []
			: [`What it had said until then (partial):\n${capped(outcome.partialText, record)}`]),
	].join("\n\n");
}

function trailerFor(outcome: Outcome, record: AgentRecord, warnings: readonly string[]): string {
	const { agentId, preset, durationMs, toolUses } = detailsOf(record);
	const how = [outcomeText(outcome, { durationMs }), formatCount(toolUses, "tool call"), attemptsText(record)];
	const notes = warnings.map((warning) => `. ${sanitize(warning)}`).join("");
	return `[agent ${agentId} (${preset}): ${how.filter((each) => each !== "").join(", ")}${notes}]`;
}

/** An answer that is data stands by itself, so that nobody has to look for it in what was said around it. */
function answer(outcome: Outcome & { status: "completed" }, record: AgentRecord): string[] {
	const { text, structured } = outcome;
	if (!structured) return [capped(text, record)];
	const prose = capped(proseIn(text, outcome), record);
	const { text: data, beyond } = structuredElement(structured, MOST_CHARACTERS);
	return [...(prose === "" ? [] : [prose]), beyond > 0 ? `${data}\n${restText(beyond, record)}` : data];
}

/** The report as a person wants it: an answer alone, since the row has figures of its own; else how it ended, in plain words. */
export function forPeople(report: string): string {
	return report
		.replace(/\n\n\[agent [^\n]*\]$/, "")
		.replace(/^\[agent \S+ \([^)]*\): ([^\n]*)\]/, "$1")
		.replace(/^<\/?structured-output>\n?/gm, "")
		.trim();
}

function capped(text: string, record: AgentRecord): string {
	const clean = sanitizeBlock(text).trim();
	const beyond = clean.length - MOST_CHARACTERS;
	return beyond <= 0 ? clean : `${clean.slice(0, MOST_CHARACTERS)}\n${restText(beyond, record)}`;
}
