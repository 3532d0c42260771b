/** Agents as menu items, and the actions of each. Pure. */
import { type AgentRecord, isSettled } from "@pi-subagents/core";
import { endText, formatCount, formatDuration, lookOf } from "@pi-subagents/progress";
import type { Item } from "@pi-subagents/widget/dialogs";
import { activityText, durationOf, sortByActivity, toneOf } from "../../text/agent-text.ts";

/** Running agents by activity, settled ones by their end, newest first. */
export function agentItems(agents: readonly AgentRecord[], which: "running" | "settled", now: number): Item[] {
	const wanted = agents.filter(({ status }) => isSettled(status) === (which === "settled"));
	return (which === "running" ? sortByActivity(wanted) : byEnd(wanted)).map((agent) => agentItem(agent, now));
}

function byEnd(agents: readonly AgentRecord[]): AgentRecord[] {
	return [...agents].sort((a, b) => (b.completedAt ?? 0) - (a.completedAt ?? 0));
}

function agentItem(agent: AgentRecord, now: number): Item {
	const { id, name, type, status, description } = agent;
	return {
		value: id,
		mark: { text: lookOf(agent).icon, tone: toneOf(agent) },
		label: type,
		tag: { text: name ?? id },
		about: description,
		end: status === "queued" ? lookOf(agent).word : formatDuration(durationOf(agent, now)),
		note: stateOf(agent, now),
	};
}

/** Its current activity, or how and when it ended. */
export function stateOf(agent: AgentRecord, now: number): string {
	const { outcome, status, completedAt = now } = agent;
	if (outcome) return `${endText(outcome)}, ${formatDuration(Math.max(0, now - completedAt))} ago`;
	return activityText(agent) || (status === "queued" ? "Waiting for a slot." : "Just started.");
}

export type AgentAction = "open" | "details" | "answer" | "steer" | "stop" | "resume" | "copy";

/** `hasViewer`: its conversation can be shown live. */
export function agentActions(
	{ outcome, question, artifacts }: AgentRecord,
	{ hasViewer }: { hasViewer: boolean },
): (Item & { value: AgentAction })[] {
	return [
		...(question === undefined ? [] : [{ value: "answer" as const, label: "Answer", about: question }]),
		...(hasViewer ? [{ value: "open" as const, label: "Open", about: "follow its conversation live" }] : []),
		{ value: "details", label: "Details", about: "task, usage and result" },
		...(outcome
			? [{ value: "resume" as const, label: "Resume", about: "give it another task; it remembers this one" }]
			: [
					{ value: "steer" as const, label: "Steer", about: "give it another instruction while it works" },
					{ value: "stop" as const, label: "Stop", about: "stop it and its sub-agents" },
				]),
		...(artifacts === undefined
			? []
			: [{ value: "copy" as const, label: "Copy the path of its files", about: artifacts }]),
	];
}

/** What a stop affects. */
export function stopText({ id, description }: AgentRecord, agents: readonly AgentRecord[]): string {
	const launched = activeBelow(id, agents);
	const others = `${formatCount(launched, "sub-agent")} will stop with it. `;
	return `${description}\n${launched === 0 ? "" : others}Its output so far is kept.`;
}

function activeBelow(id: string, agents: readonly AgentRecord[]): number {
	const below = new Set([id]);
	// Agents are in launch order, so parents come before children.
	for (const agent of agents)
		if (agent.parentAgentId !== undefined && below.has(agent.parentAgentId)) below.add(agent.id);
	return agents.filter((agent) => agent.id !== id && below.has(agent.id) && !isSettled(agent.status)).length;
}
