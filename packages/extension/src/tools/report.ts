/** What the model reads about a run that has settled: the answer, then who gave it, how it ended, and what can be done next. */
import type { AgentRecord, Outcome } from "@pi-subagents/core";
import { formatCount, outcomeText, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { detailsOf } from "./details.ts";

/** More would crowd the parent's context; the rest is in the run's files. */
const MOST_CHARACTERS = 50_000;

/** `warnings` are how the request was understood, where that is not obvious. */
export function reportFor(outcome: Outcome, record: AgentRecord, warnings: readonly string[] = []): string {
	const { agentId, preset, durationMs, toolUses } = detailsOf(record);
	const how = outcomeText(outcome, { durationMs });
	const notes = warnings.map((warning) => `. ${sanitize(warning)}`).join("");
	const trailer = `[agent ${agentId} (${preset}): ${how}, ${formatCount(toolUses, "tool call")}${notes}]`;
	if (outcome.status === "completed") return `${capped(outcome.text, record)}\n\n${trailer}`;
	return outcome.partialText === undefined
		? trailer
		: `${trailer}\n\nWhat it had said until then (partial):\n${capped(outcome.partialText, record)}`;
}

/** The report as a person wants it: an answer alone, since the row has figures of its own; else how it ended, in plain words. */
export function forPeople(report: string): string {
	return report.replace(/\n\n\[agent [^\n]*\]$/, "").replace(/^\[agent \S+ \([^)]*\): ([^\n]*)\]/, "$1");
}

function capped(text: string, { artifacts }: AgentRecord): string {
	const clean = sanitizeBlock(text).trim();
	const beyond = clean.length - MOST_CHARACTERS;
	if (beyond <= 0) return clean;
	const where = artifacts === undefined ? "left out" : `in ${artifacts}/result.json`;
	return `${clean.slice(0, MOST_CHARACTERS)}\n[${formatCount(beyond, "more character")} ${where}]`;
}
