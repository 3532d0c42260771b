/** What the model reads about a run that has settled: the answer, then who gave it and how it ended. */
import type { AgentRecord, Outcome } from "@pi-subagents/core";
import { formatCount, outcomeText, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { detailsOf } from "./details.ts";

/** More would crowd the parent's context; an agent that has more to say should write it to a file. */
const MOST_CHARACTERS = 50_000;

/** `warnings` are how the request was understood, where that is not obvious. */
export function reportFor(outcome: Outcome, record: AgentRecord, warnings: readonly string[] = []): string {
	const { agentId, preset, durationMs, toolUses } = detailsOf(record);
	const how = outcomeText(outcome, { durationMs });
	const trailer = `[agent ${agentId} (${preset}): ${how}, ${formatCount(toolUses, "tool call")}${warnings.map((warning) => `. ${sanitize(warning)}`).join("")}]`;
	if (outcome.status === "completed") return `${capped(outcome.text)}\n\n${trailer}`;
	return outcome.partialText === undefined
		? trailer
		: `${trailer}\n\nWhat it had said until then (partial):\n${capped(outcome.partialText)}`;
}

/** The report as a person wants it: an answer alone, since the row has figures of its own; else how it ended, in plain words. */
export function forPeople(report: string): string {
	return report.replace(/\n\n\[agent [^\n]*\]$/, "").replace(/^\[agent \S+ \([^)]*\): ([^\n]*)\]/, "$1");
}

function capped(text: string): string {
	const clean = sanitizeBlock(text).trim();
	const beyond = clean.length - MOST_CHARACTERS;
	return beyond > 0 ? `${clean.slice(0, MOST_CHARACTERS)}\n[${formatCount(beyond, "more character")} left out]` : clean;
}
