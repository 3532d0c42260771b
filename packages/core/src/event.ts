/**
 * Everything that can happen to an agent, as immutable plain JSON: what its child reports (`ChildEvent`)
 * and what the manager decides about it (`LifeCycleEvent`). Records are made from these and nothing else.
 */
import type { ChildEvent, Outcome, Usage } from "@pi-subagents/progress";

/** What the manager says about an agent. */
export type LifeCycleEvent =
	| AgentQueued
	| AgentStarted
	| AgentSteered
	| AgentAsked
	| AgentAnswered
	| AgentLeft
	| AgentSettled
	| AgentFiled;

/** A launch was accepted: the first event of every agent, and of every later run of it. */
export interface AgentQueued {
	type: "agent_queued";
	agent: AgentIdentity;
}

/** A run began. */
export interface AgentStarted {
	type: "agent_started";
}

/** Somebody gave the running agent a message. */
export interface AgentSteered {
	type: "agent_steered";
	message: string;
}

/** The agent asked a question and waits for the answer. */
export interface AgentAsked {
	type: "agent_asked";
	question: string;
}

/** The agent's question was answered, or nobody will answer it. */
export interface AgentAnswered {
	type: "agent_answered";
}

/** Who waited for the agent does not any more; it goes on in the background. */
export interface AgentLeft {
	type: "agent_left";
}

/** The run is over. */
export interface AgentSettled {
	type: "agent_settled";
	outcome: Outcome;
	/** What the agent came to, where the events that say so are not at hand. */
	totals?: { turns: number; toolUses: number; usage: Usage };
}

/** How the run ended is in its files: the record need not hold all that was said. */
export interface AgentFiled {
	type: "agent_filed";
}

/** What is fixed about an agent when it is launched. */
export interface AgentIdentity {
	/** A memorable handle, beside the id. */
	name?: string;
	parentAgentId?: string;
	/** 1 for an agent that the user's session launched. */
	depth: number;
	/** The name of its preset. */
	type: string;
	description: string;
	task: string;
	cwd: string;
	runner: RunnerName;
	/** `provider/id`. */
	model?: string;
	/** The model as it was asked for. */
	requestedModel?: string;
	maxTurns?: number;
	isBackground: boolean;
	/** Its run goes on when the session that launched it ends. */
	outlives?: boolean;
	/** The directory of its present run's files, where some are kept. */
	artifacts?: string;
	/** It has a checkout of its own. */
	isolation?: "worktree";
}

export type RunnerName = "session" | "process" | "tmux";

/** Which agent, in which order, when, in which run. */
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
