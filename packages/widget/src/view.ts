/** What the widget needs to know of an agent. Everybody's data fits: only two fields are required. */
import type { Outcome, Usage } from "@pi-subagents/progress";

export type ViewStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "aborted";

/** A view is never written to: an agent that changed is a new object. Times are milliseconds since the epoch. */
export interface AgentView {
	id: string;
	status: ViewStatus;
	parentAgentId?: string | undefined;
	/** 1 for an agent that a session launched. Only asked of agents whose parent is unknown. */
	depth?: number | undefined;
	type?: string | undefined;
	description?: string | undefined;
	/** `provider/id`, or any name. */
	model?: string | undefined;
	startedAt?: number | undefined;
	completedAt?: number | undefined;
	/** Whoever runs without a sign of life since then is marked as silent. */
	lastEventAt?: number | undefined;
	/** Why it failed, where there is no outcome. */
	error?: string | undefined;
	outcome?: Outcome | undefined;
	/** What it is doing, in a few words. */
	activity?: string | undefined;
	/** What it asked, while it waits for the answer. */
	question?: string | undefined;
	turns?: number | undefined;
	maxTurns?: number | undefined;
	toolUses?: number | undefined;
	usage?: Usage | undefined;
	/** From 0 to 100. */
	contextPercent?: number | undefined;
	compactions?: number | undefined;
	/** The tools that it waits for, oldest first. */
	memory?: { readonly pending: readonly { readonly tool: string }[] } | undefined;
}

/** How urgent an agent is: at work, about to be, or done. */
export type Rank = 0 | 1 | 2;

export const ACTIVE: Rank = 0;
export const QUEUED: Rank = 1;
export const SETTLED: Rank = 2;

const RANKS: Record<ViewStatus, Rank> = {
	running: ACTIVE,
	waiting: ACTIVE,
	queued: QUEUED,
	completed: SETTLED,
	failed: SETTLED,
	aborted: SETTLED,
};

/** A status that a newer version invented needs no attention. */
export function rankOf({ status }: AgentView): Rank {
	return Object.hasOwn(RANKS, status) ? RANKS[status] : SETTLED;
}
