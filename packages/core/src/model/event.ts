/**
 * Everything that can happen to an agent, as immutable JSON: what its child reports (`ChildEvent`) and what the
 * manager decides (`LifeCycleEvent`). Records are built from these and nothing else.
 */
import type { ChildEvent } from "@pi-subagents/progress";
import type {
	AgentAnswered,
	AgentAsked,
	AgentQueued,
	AgentSettled,
	AgentStarted,
	AgentSteered,
	MovedToBackground,
	Notice,
	ResultArchived,
} from "./schema/events.ts";

/** What the manager decides about an agent. */
export type LifeCycleEvent =
	| AgentQueued
	| AgentStarted
	| AgentSteered
	| AgentAsked
	| AgentAnswered
	| MovedToBackground
	| Notice
	| AgentSettled
	| ResultArchived;

/** Which agent, order, time and run. */
export interface Envelope {
	agentId: string;
	/** Grows by one with every event of a store. */
	seq: number;
	/** Milliseconds since the epoch. */
	at: number;
	/** Counts from 1. */
	run: number;
}

export type AgentEvent = Envelope & (LifeCycleEvent | ChildEvent);
