/** What is known about an agent, as plain JSON. Only `reduce` creates records; nothing else changes them. */
import type { Memory, Outcome, PhaseProgress, Status, Usage, WaitsFor } from "@pi-subagents/progress";
import { defined } from "../base/values.ts";
import type { AgentEvent } from "./event.ts";
import type { AgentAsked, AgentQueued } from "./schema/events.ts";
import type { AgentIdentity } from "./schema/launch.ts";
import { NO_USAGE } from "./usage.ts";

export interface AgentRecord extends AgentIdentity {
	id: string;
	status: Status;
	/** How many times it was started; counts from 1. */
	run: number;
	queuedAt: number;
	startedAt?: number;
	/** Never before `startedAt`, even if the time of day was set back. */
	completedAt?: number;
	/** How long the run took, in whole milliseconds, once it has settled. Absent if it never started. */
	durationMs?: number;
	/** How the run settled. Present exactly when the status is a settled one. */
	outcome?: Outcome;
	/** The last progress line: what the agent is doing now. */
	activity?: string;
	/** Of a workflow: how far its phases are. */
	phases?: readonly PhaseProgress[];
	lastEventAt: number;
	turns: number;
	toolUses: number;
	/** Of all runs together. */
	usage: Usage;
	contextPercent?: number;
	compactions: number;
	/** The models that failed in this run before the current one, in order. */
	attempts?: readonly { model: string; error: string }[];
	/** A command checks its work now. */
	isVerifying?: true;
	/** What it asked, while it waits for the answer. Not a dialog of an extension: no text answers that. */
	question?: string;
	/** All that is known of its question or dialog, while it waits. */
	asking?: Pick<AgentAsked, "question" | "id" | "context" | "defaultAnswer" | "isDialog">;
	/** Whom it asked, while it waits. */
	waitsFor?: WaitsFor;
	/** Why the current run had to wait for its start, as it was when it was queued. */
	queuedFor?: string;
	/** No tool runs and nothing else holds it up: the model is thinking or writing. */
	isModelWorking?: boolean;
	/** The state of `describe` between two events. */
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
		...defined({ queuedFor: event.waits }),
	};
}
