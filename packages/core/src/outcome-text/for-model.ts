/**
 * What the model reads about a settled run: the answer, then which agent gave it, how it ended, and what can be done
 * next. The answer is fenced: it may contain anything, even what looks like another agent's report.
 */

import type { Outcome } from "@pi-subagents/progress";
import { fence, formatCount, outcomeText, sanitize, sanitizeBlock, unfenced } from "@pi-subagents/progress";
import type { AgentRecord } from "../model/record.ts";
import { detailsOf } from "./details.ts";
import { attemptsText, complaints, proseIn, restText, structuredElement } from "./structured.ts";
import { worktreeLines, worktreeProblems } from "./worktree-text.ts";

/** More would fill the parent's context; the rest is in the run's files. */
const MAX_CHARACTERS = 50_000;
/** Several reports in one result share this. */
const MAX_TOGETHER = 200_000;

interface ReportOptions {
	/** How the request was interpreted, where that is not obvious. */
	warnings?: readonly string[];
	/** The number of reports in the result. */
	of?: number;
}

export function reportFor(
	outcome: Outcome,
	record: AgentRecord,
	{ warnings = [], of = 1 }: ReportOptions = {},
): string {
	const most = Math.min(MAX_CHARACTERS, Math.floor(MAX_TOGETHER / of));
	const trailer = trailerFor(outcome, record, warnings);
	const worktree = [...worktreeLines(outcome.worktree), ...fencedProblems(outcome)];
	const checkout = worktree.length > 0 ? [worktree.join("\n")] : [];
	if (outcome.status === "completed") return [...answer(outcome, record, most), ...checkout, trailer].join("\n\n");
	const wrong = complaints(outcome);
	return [
		[trailer, ...(wrong.length > 0 ? [fence("problems", wrong.join("\n"))] : [])].join("\n"),
		...checkout,
		...(outcome.partialText === undefined
			? []
			: [`What it had said until then (partial):\n${capped("partial", outcome.partialText, record, most)}`]),
	].join("\n\n");
}

/** They repeat names of files and branches that the agent chose, and what git said. */
function fencedProblems({ worktree }: Outcome): string[] {
	const problems = worktreeProblems(worktree);
	return problems.length > 0 ? [`About its worktree:\n${fence("problems", problems.join("\n"))}`] : [];
}

function trailerFor(outcome: Outcome, record: AgentRecord, warnings: readonly string[]): string {
	const { agentId, preset, durationMs, toolUses } = detailsOf(record);
	const how = [
		outcomeText(outcome, { durationMs, isForModel: true }),
		formatCount(toolUses, "tool call"),
		attemptsText(record, { isForModel: true }),
	];
	const notes = warnings.map((warning) => `. ${sanitize(warning)}`).join("");
	const told = `${how.filter((each) => each !== "").join(", ")}${notes}`;
	// Brackets in an error must not look like the end of this line.
	return `[agent ${agentId} (${sanitize(preset)}): ${told.replaceAll("[", "(").replaceAll("]", ")")}]`;
}

/** Structured data stands by itself, apart from the prose around it. */
function answer(outcome: Outcome & { status: "completed" }, record: AgentRecord, most: number): string[] {
	const { text, structured } = outcome;
	if (!structured) return [capped("answer", text, record, most)];
	const prose = proseIn(text, outcome);
	const { text: data, beyond } = structuredElement(structured, most);
	return [
		...(prose === "" ? [] : [capped("answer", prose, record, most)]),
		beyond > 0 ? `${data}\n${restText(beyond, record)}` : data,
	];
}

/** The report for people: only the answer, since the row has the figures; else how the run ended. */
export function forPeople(report: string): string {
	const bare = report.replace(/\n\n\[agent [^\n]*\]$/, "").replace(/^\[agent \S+ \([^)]*\): ([^\n]*)\]/, "$1");
	return unfenced(bare)
		.replace(/^<\/?structured-output>\n?/gm, "")
		.trim();
}

function capped(kind: "answer" | "partial", text: string, record: AgentRecord, most: number): string {
	const clean = sanitizeBlock(text).trim();
	const beyond = clean.length - most;
	if (beyond <= 0) return fence(kind, clean);
	return `${fence(kind, clean.slice(0, most))}\n${restText(beyond, record)}`;
}
