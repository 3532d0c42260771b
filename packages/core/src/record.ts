/** What is known of an agent, as plain JSON. Only `reduce` makes records; nobody else changes one. */
import type { Memory, Outcome, Usage } from "@pi-subagents/progress";
import type { AgentEvent, AgentIdentity, AgentQueued } from "./event.ts";
import type { Status } from "./status.ts";
import { NO_USAGE } from "./usage.ts";

export interface AgentRecord extends AgentIdentity {
	id: string;
	status: Status;
	/** How often it was started; counts from 1. */
	run: number;
	queuedAt: number;
	startedAt?: number;
	completedAt?: number;
	/** How the run settled. Present exactly when the status is a settled one. */
	outcome?: Outcome;
	/** The last progress line: what a person reads as "what is it doing". */
	activity?: string;
	lastEventAt: number;
	turns: number;
	toolUses: number;
	/** Of all runs together. */
	usage: Usage;
	contextPercent?: number;
	compactions: number;
	/** The models that could not be used in this run, in this order, before the present one. */
	attempts?: { model: string; error: string }[];
	/** What it asked, while it waits for the answer. */
	question?: string;
	/** What `describe` has to remember between two events. */
	memory?: Memory;
}

export function newRecord(event: AgentEvent & AgentQueued): AgentRecord {
	return {
		...event.agent,
		id: event.agentId,
		status: "queued",
		run: event.run,
		queuedAt: event.at,
		lastEventAt: event.at,
		turns: 0,
		toolUses: 0,
		usage: NO_USAGE,
		compactions: 0,
	};
}
