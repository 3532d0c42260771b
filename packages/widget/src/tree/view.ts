/** What the widget needs to know of an agent. Only two fields are required. */
import type { Outcome, PhaseProgress, Status, Usage, WaitsFor } from "@pi-subagents/progress";

/** Immutable: a changed agent is a new object. Times are milliseconds since the epoch. */
export interface AgentView {
	id: string;
	status: Status;
	parentAgentId?: string | undefined;
	/** 1 for an agent that a session launched. Used only if the parent is unknown. */
	depth?: number | undefined;
	type?: string | undefined;
	description?: string | undefined;
	/** The machine that it runs on, if it is not this one. */
	machine?: string | undefined;
	/** `provider/id`, or any name. */
	model?: string | undefined;
	startedAt?: number | undefined;
	completedAt?: number | undefined;
	/** How long it took; by default the difference of the two times. */
	durationMs?: number | undefined;
	/** A running agent without events since then is marked as silent. */
	lastEventAt?: number | undefined;
	/** Why it failed, if there is no outcome. */
	error?: string | undefined;
	outcome?: Outcome | undefined;
	/** What it is doing, in short. */
	activity?: string | undefined;
	/** Its open question, if any. */
	question?: string | undefined;
	/** Whom it asked; by default the user. */
	waitsFor?: WaitsFor | undefined;
	/** Of a workflow: how far its phases are. Its agents are grouped by theirs. */
	phases?: readonly PhaseProgress[] | undefined;
	/** Of an agent that a workflow launched. */
	phase?: string | undefined;
	turns?: number | undefined;
	maxTurns?: number | undefined;
	toolUses?: number | undefined;
	usage?: Usage | undefined;
	/** From 0 to 100. */
	contextPercent?: number | undefined;
	compactions?: number | undefined;
	/** The tool calls in progress, oldest first. */
	memory?: { readonly pending: readonly { readonly tool: string }[] } | undefined;
}

/** How urgent an agent is: active, queued or settled. */
export type Rank = 0 | 1 | 2;

export const ACTIVE: Rank = 0;
export const QUEUED: Rank = 1;
export const SETTLED: Rank = 2;

const RANKS: Record<Status, Rank> = {
	running: ACTIVE,
	waiting: ACTIVE,
	queued: QUEUED,
	completed: SETTLED,
	failed: SETTLED,
	aborted: SETTLED,
};

/** An unknown status from a newer version counts as settled. */
export function rankOf({ status }: AgentView): Rank {
	return Object.hasOwn(RANKS, status) ? RANKS[status] : SETTLED;
}
