/** How agents are spoken of in what the commands show. Pure. */
import { type AgentRecord, isSettled, type Status } from "@pi-subagents/core";
import { outcomeText } from "@pi-subagents/progress";
import type { Tone } from "./layout.ts";

export const STATUS_TONES: Record<Status, Tone> = {
	queued: "muted",
	running: "accent",
	waiting: "warn",
	completed: "good",
	failed: "bad",
	aborted: "warn",
};

/** Those at work first, then those launched last. */
export function inOrder(agents: readonly AgentRecord[]): AgentRecord[] {
	return agents.toReversed().sort((a, b) => (RANKS[a.status] ?? LAST) - (RANKS[b.status] ?? LAST));
}

const RANKS: Partial<Record<Status, number>> = { running: 0, waiting: 1, queued: 2 };
const LAST = 3;

export function isActive({ status }: AgentRecord): boolean {
	return !isSettled(status);
}

/** How long it has been at work, or in the queue. */
export function durationOf({ queuedAt, startedAt, completedAt, lastEventAt }: AgentRecord, now = lastEventAt): number {
	return Math.max(0, (completedAt ?? now) - (startedAt ?? queuedAt));
}

/** What it does, what it waits for, or why it ended: nothing where the status says it all. */
export function doing({ status, activity, question, outcome }: AgentRecord): string {
	if (question !== undefined) return `asks: ${question}`;
	if (!outcome) return status === "queued" ? "" : (activity ?? "");
	return outcome.status === "completed" && !outcome.wrappedUp ? "" : outcomeText(outcome);
}

/** `scout a1b2c3d4`, or with the name that it was given. */
export function called({ id, name, type }: AgentRecord): string {
	return name === undefined ? `${type} ${id}` : `${type} "${name}" (${id})`;
}

/** The first word, and everything after it as it was typed. */
export function firstWord(text: string): [word: string, rest: string] {
	const trimmed = text.trim();
	const [word = ""] = trimmed.split(/\s/, 1);
	return [word, trimmed.slice(word.length).trim()];
}
