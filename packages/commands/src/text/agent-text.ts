/** Texts and ordering of agents shared by all commands. Pure. */
import { type AgentRecord, type Manager, type Status, treeUsage } from "@pi-subagents/core";
import { wholeMs } from "@pi-subagents/core/internal/base";
import { endText, formatCost, isSettled, lookOf, type StatusView } from "@pi-subagents/progress";
import type { Cell, Tone } from "@pi-subagents/widget/dialogs";

/** The status in its one word and colour. */
export function statusCell(agent: StatusView | string): Cell & { tone: Tone } {
	return { text: lookOf(agent).word, tone: toneOf(agent) };
}

export function toneOf(agent: StatusView | string): Tone {
	return TONES[lookOf(agent).color];
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
export function activityText({ activity, queuedFor, question, outcome }: AgentRecord): string {
	if (question !== undefined) return `asks: ${question}`;
	if (!outcome) return activity ?? queuedFor ?? "";
	return outcome.status === "completed" && !outcome.wrappedUp ? "" : endText(outcome);
}

/** The session's agents as people see them: with what each active one does at this moment. */
export function currentAgents(manager: Pick<Manager, "store" | "activityOf">): AgentRecord[] {
	return manager.store.snapshot().records.map((record) => {
		const activity = record.outcome || record.question !== undefined ? undefined : manager.activityOf(record.id);
		return activity === undefined ? record : { ...record, activity };
	});
}

/** `$0.012`, and with its sub-agents `$0.012, $0.40 with its 3 sub-agents`; empty where nothing was billed. */
export function costText(agents: readonly AgentRecord[], id: string): string {
	const own = agents.find((agent) => agent.id === id)?.usage.cost ?? 0;
	const { usage, agents: count } = treeUsage(agents, id);
	if (!(usage.cost > 0)) return "";
	const all = `${formatCost(usage.cost)} with its ${count === 2 ? "sub-agent" : `${count - 1} sub-agents`}`;
	return count > 1 ? `${formatCost(own)}, ${all}` : formatCost(own);
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
