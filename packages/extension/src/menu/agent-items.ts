/** Agents as things to choose, and what can be done with one. Pure. */
import { type AgentRecord, isSettled, type Status } from "@pi-subagents/core";
import { formatCount, formatDuration, outcomeText } from "@pi-subagents/progress";
import { doing, durationOf, inOrder, STATUS_TONES } from "../commands/words.ts";
import type { Item } from "./screen.ts";

const MARKS: Record<Status, string> = {
	queued: "○",
	running: "●",
	waiting: "?",
	completed: "✓",
	failed: "✗",
	aborted: "■",
};

/** Those at work, or those that have settled; in the order in which a person looks for them. */
export function agentItems(agents: readonly AgentRecord[], which: "running" | "settled", now: number): Item[] {
	const wanted = agents.filter(({ status }) => isSettled(status) === (which === "settled"));
	return (which === "running" ? inOrder(wanted) : byEnd(wanted)).map((agent) => agentItem(agent, now));
}

function byEnd(agents: readonly AgentRecord[]): AgentRecord[] {
	return [...agents].sort((a, b) => (b.completedAt ?? 0) - (a.completedAt ?? 0));
}

function agentItem(agent: AgentRecord, now: number): Item {
	const { id, name, type, status, description } = agent;
	return {
		value: id,
		mark: { text: MARKS[status], tone: STATUS_TONES[status] },
		label: type,
		tag: { text: name ?? id },
		about: description,
		end: status === "queued" ? "queued" : formatDuration(durationOf(agent, now)),
		note: stateOf(agent, now),
	};
}

/** What it does now, or how and when it ended. */
export function stateOf(agent: AgentRecord, now: number): string {
	const { outcome, status, completedAt = now } = agent;
	if (outcome) return `${outcomeText(outcome)}, ${formatDuration(Math.max(0, now - completedAt))} ago`;
	return doing(agent) || (status === "queued" ? "It waits for a slot." : "It has just begun.");
}

export type AgentAction = "open" | "details" | "answer" | "steer" | "stop" | "resume" | "copy";

/** `hasViewer`: its conversation can be shown as it goes on. */
export function agentActions(
	{ outcome, question, artifacts }: AgentRecord,
	{ hasViewer }: { hasViewer: boolean },
): (Item & { value: AgentAction })[] {
	return [
		...(question === undefined ? [] : [{ value: "answer" as const, label: "Answer", about: question }]),
		...(hasViewer ? [{ value: "open" as const, label: "Open", about: "its conversation, as it goes on" }] : []),
		{ value: "details", label: "Details", about: "what it was asked, what it used and what it said" },
		...(outcome
			? [{ value: "resume" as const, label: "Resume", about: "give it another task; it remembers this one" }]
			: [
					{ value: "steer" as const, label: "Steer", about: "give it another instruction while it works" },
					{ value: "stop" as const, label: "Stop", about: "end it, and all that it launched" },
				]),
		...(artifacts === undefined
			? []
			: [{ value: "copy" as const, label: "Copy the path of its files", about: artifacts }]),
	];
}

/** What a stop would end. */
export function stopText({ id, description }: AgentRecord, agents: readonly AgentRecord[]): string {
	const launched = activeBelow(id, agents);
	const others = `${formatCount(launched, "agent")} that it launched ${launched === 1 ? "ends" : "end"} with it. `;
	return `${description}\n${launched === 0 ? "" : others}What it has said so far is kept.`;
}

function activeBelow(id: string, agents: readonly AgentRecord[]): number {
	const below = new Set([id]);
	// A child stands behind its parent in the order of launching.
	for (const agent of agents)
		if (agent.parentAgentId !== undefined && below.has(agent.parentAgentId)) below.add(agent.id);
	return agents.filter((agent) => agent.id !== id && below.has(agent.id) && !isSettled(agent.status)).length;
}
