/**
 * Everything that can happen to an agent, as immutable JSON: what its child reports (`ChildEvent`) and what the
 * manager decides (`LifeCycleEvent`). Records are built from these and nothing else.
 */
import type { ChildEvent, Outcome, Usage } from "@pi-subagents/progress";

/** What the manager decides about an agent. */
export type LifeCycleEvent =
	| AgentQueued
	| AgentStarted
	| AgentSteered
	| AgentAsked
	| AgentAnswered
	| MovedToBackground
	| AgentSettled
	| ResultArchived;

/** A launch was accepted: the first event of every agent, and of every later run of it. */
export interface AgentQueued {
	type: "agent_queued";
	agent: AgentIdentity;
	/** Why it could not start at once, for people. */
	waits?: string;
}

/** A run began. */
export interface AgentStarted {
	type: "agent_started";
}

/** The running agent was sent a message. */
export interface AgentSteered {
	type: "agent_steered";
	message: string;
}

/** The agent asked a question and waits for the answer; again when the question is passed on, or is the next one. */
export interface AgentAsked {
	type: "agent_asked";
	/** Or the title of the dialog. */
	question: string;
	/** It is a dialog of an extension inside the agent, which only the user can answer, on the screen. */
	isDialog?: true;
	/** Who gets it. Absent in logs of older versions. */
	to?: "agent" | "session" | "user";
	/** The name of the agent that gets it, if one does. */
	toName?: string;
}

/** The agent's question was answered or declined. */
export interface AgentAnswered {
	type: "agent_answered";
	/** Who answered; `default` and `nobody` if no one did. Absent in logs of older versions. */
	by?: "agent" | "session" | "user" | "default" | "nobody";
}

/** The call that waited for the agent returned; the agent continues in the background. */
export interface MovedToBackground {
	type: "moved_to_background";
}

/** The run is over. */
export interface AgentSettled {
	type: "agent_settled";
	outcome: Outcome;
	/** How long the run took, by the steady clock. When absent, the time since it started. */
	durationMs?: number;
	/** The agent's totals, where the events they come from are not available. */
	totals?: { turns: number; toolUses: number; usage: Usage };
}

/** The whole result is in the run's files: the record need not hold all of it. */
export interface ResultArchived {
	type: "result_archived";
}

/** What is fixed at launch. */
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
	/** The machine that it runs on, if it is not this one. */
	machine?: string;
	/** The program that it runs inside, by its name in the user's settings. */
	launcher?: string;
	/** `provider/id`. */
	model?: string;
	requestedModel?: string;
	maxTurns?: number;
	isBackground: boolean;
	/** Who asked for the current run. Absent in entries of older versions. */
	launchedBy?: LaunchedBy;
	/** The tool call that asked for it, if a model did. */
	callId?: string;
	/** The part of a workflow that it belongs to. */
	phase?: string;
	/** Its run continues when the session that launched it ends. */
	outlives?: boolean;
	/** The directory of the current run's files, if any are kept. */
	artifacts?: string;
	/** It has its own checkout. */
	isolation?: "worktree";
	/** What the call said, for the agent's next run. */
	given?: GivenByCall;
}

/** Parts of a call, as it gave them. Other parts, such as the directory, are fields of the record. */
export interface GivenByCall {
	thinking?: string;
	maxTurns?: number;
	outputSchema?: Readonly<Record<string, unknown>>;
	/** Without any extension or skill. */
	isolated?: boolean;
	/** The complete list of its tools. */
	tools?: readonly string[];
	/** As in presets: text, a list, or a mapping. */
	verify?: unknown;
	/** Who named that command, if not the model: permission is checked each time that it is to run. */
	verifyBy?: "user" | "extension";
	/** Whether an agent on another machine is run again if it is lost. */
	retry?: "lost" | "off";
}

/** Who asks for a run: the user with a command, the model with a tool, another extension, or a scheduled job. */
export const LAUNCHERS = ["user", "model", "rpc", "schedule"] as const;

export type LaunchedBy = (typeof LAUNCHERS)[number];

/** `remote`: on another machine. `workflow`: no model, but a script whose agents are its children. */
export type RunnerName = "session" | "process" | "tmux" | "remote" | "workflow";

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
