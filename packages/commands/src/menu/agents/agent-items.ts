/** Agents as menu items, and the actions of each. Pure. */
import type { AgentRecord } from "@pi-subagents/core";
import { endText, formatCost, formatCount, formatDuration, isSettled, lookOf } from "@pi-subagents/progress";
import { treeOrder } from "@pi-subagents/widget";
import type { Item, ItemKey } from "@pi-subagents/widget/dialogs";
import { activityText, costText, durationOf, toneOf } from "../../text/agent-text.ts";

/** Parents above children, active agents first. */
export function agentItems(agents: readonly AgentRecord[], now: number): Item[] {
	const parents = new Set(agents.map(({ parentAgentId }) => parentAgentId));
	return treeOrder(agents).map(({ agent, branch }) => {
		const cost = parents.has(agent.id) ? costText(agents, agent.id) : ""; // that of others is in their row
		const note = [stateOf(agent, now), ...(cost === "" ? [] : [`cost ${cost}`])].join("\n");
		return { ...agentItem(agent, now), branch, note };
	});
}

function agentItem(agent: AgentRecord, now: number): Item {
	const { id, name, type, status, description, usage } = agent;
	return {
		value: id,
		mark: { text: lookOf(agent).icon, tone: toneOf(agent) },
		label: type,
		tag: { text: name ?? id },
		about: description,
		...(usage.cost > 0 ? { figure: formatCost(usage.cost) } : {}),
		end: status === "queued" ? lookOf(agent).word : formatDuration(durationOf(agent, now)),
	};
}

/** Its current activity, or how and when it ended. */
export function stateOf(agent: AgentRecord, now: number): string {
	const { outcome, status, completedAt = now } = agent;
	if (outcome) return `${endText(outcome)}, ${formatDuration(Math.max(0, now - completedAt))} ago`;
	return activityText(agent) || (status === "queued" ? "Waiting for a slot." : "Just started.");
}

export type AgentAction = "open" | "details" | "answer" | "steer" | "stop" | "resume" | "diff" | "copy";

/** `hasViewer`: its conversation can be shown live. */
export function agentActions(
	agent: AgentRecord,
	{ hasViewer }: { hasViewer: boolean },
): (Item & { value: AgentAction })[] {
	const { outcome, question, artifacts } = agent;
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
		...(mayHaveChanges(agent)
			? [{ value: "diff" as const, label: "Diff", about: "what it changed in its worktree" }]
			: []),
		...(artifacts === undefined
			? []
			: [{ value: "copy" as const, label: "Copy the path of its files", about: artifacts }]),
	];
}

/** What is in a worktree only git knows, until its run has ended with a report. */
function mayHaveChanges({ isolation, outcome }: AgentRecord): boolean {
	const report = outcome?.worktree;
	return isolation !== undefined && (!report || report.branch !== undefined || report.path !== undefined);
}

/** The keys of the list, in the order in which they are shown. Enter opens. */
const KEYS: readonly { key: string; does: string; action: AgentAction; help: string }[] = [
	{ key: "a", does: "answer", action: "answer", help: "answer its question" },
	{ key: "s", does: "steer", action: "steer", help: "tell it something while it works" },
	{ key: "x", does: "stop", action: "stop", help: "stop it and its sub-agents" },
	{ key: "r", does: "resume", action: "resume", help: "give another task to one that ended" },
	{ key: "d", does: "diff", action: "diff", help: "what it changed in its worktree" },
	{ key: "i", does: "details", action: "details", help: "its task, usage and result" },
	{ key: "y", does: "copy path", action: "copy", help: "copy the path of its files" },
];

export function actionOf(key: string | undefined): AgentAction {
	return KEYS.find((each) => each.key === key)?.action ?? "open";
}

export function agentKeys(agentOf: (id: string) => AgentRecord | undefined): ItemKey[] {
	return KEYS.map(({ key, does, action, help }) => ({
		key,
		does,
		help,
		isOffered(id) {
			const agent = agentOf(id);
			return agent !== undefined && agentActions(agent, { hasViewer: true }).some(({ value }) => value === action);
		},
	}));
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
