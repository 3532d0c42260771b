/** Texts and ordering of agents shared by all commands. Pure. */
import { type AgentRecord, isSettled, type Status, wholeMs } from "@pi-subagents/core";
import { endText, lookOf } from "@pi-subagents/progress";
import type { Cell, Tone } from "@pi-subagents/widget/dialogs";

/** The status in its one word, icon and colour. */
export function statusCell(status: Status): Cell & { tone: Tone } {
	return { text: lookOf(status).word, tone: toneOf(status) };
}

export function toneOf(status: Status): Tone {
	return TONES[lookOf(status).color];
}

const TONES = { accent: "accent", muted: "muted", warning: "warn", success: "good", error: "bad" } as const;

/** Active agents first, then the most recently launched. */
export function sortByActivity(agents: readonly AgentRecord[]): AgentRecord[] {
	return agents.toReversed().sort((a, b) => (RANKS[a.status] ?? LAST) - (RANKS[b.status] ?? LAST));
}

const RANKS: Partial<Record<Status, number>> = { running: 0, waiting: 1, queued: 2 };
const LAST = 3;

export function isActive({ status }: AgentRecord): boolean {
	return !isSettled(status);
}

/** How long it has been running or queued. */
export function durationOf(record: AgentRecord, now = record.lastEventAt): number {
	const { queuedAt, startedAt, completedAt, durationMs } = record;
	return durationMs ?? wholeMs(startedAt ?? queuedAt, completedAt ?? now);
}

/** Its activity, question or outcome; empty where the status says it all. */
export function activityText({ status, activity, question, outcome }: AgentRecord): string {
	if (question !== undefined) return `asks: ${question}`;
	if (!outcome) return status === "queued" ? "" : (activity ?? "");
	return outcome.status === "completed" && !outcome.wrappedUp ? "" : endText(outcome);
}

/** `scout a1b2c3d4`, with the agent's name if it has one. */
export function agentLabel({ id, name, type }: AgentRecord): string {
	return name === undefined ? `${type} ${id}` : `${type} "${name}" (${id})`;
}

/** The first word, and everything after it as it was typed. */
export function firstWord(text: string): [word: string, rest: string] {
	const trimmed = text.trim();
	const [word = ""] = trimmed.split(/\s/, 1);
	return [word, trimmed.slice(word.length).trim()];
}
