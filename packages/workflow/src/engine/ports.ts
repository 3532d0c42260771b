/** What a workflow needs from the program around it, and what it gives: the engine's contract. */
import type { Clock, LaunchedBy } from "@pi-subagents/core";
import type { JournalEvent } from "../journal/events.ts";
import type { Journal } from "../journal/file.ts";
import type { WorkflowState } from "../journal/state.ts";
import type { CheckedScript } from "../script/script.ts";
import type { AgentRequest, AskRequest } from "./options.ts";

export interface WorkflowPorts {
	/** Runs an agent to its end. Rejects if the request can never run: that is a mistake in the script. */
	agent(request: AgentRequest, call: AgentCall): Promise<AgentResult>;
	/** Asks a person. Undefined: no one answers. */
	ask(request: AskRequest, signal: AbortSignal): Promise<string | undefined>;
	/** The text of a saved workflow. Rejects if there is none. When absent, scripts cannot call others. */
	load?(name: string): Promise<string>;
}

/** What belongs to one launch beside the request. */
export interface AgentCall {
	path: string;
	label: string;
	phase?: string;
	/** The agent that worked on this call when an earlier process ended. */
	previous?: LaunchedAgent;
	/** The agent that `resume` names, if it is one of this workflow's. */
	resumed?: LaunchedAgent;
	/** The workflow no longer wants the answer: stop the agent. */
	signal: AbortSignal;
	/** Say which agent it is as soon as that is known: a later process looks for it. */
	onLaunched(agent: LaunchedAgent): void;
}

/** An agent, and which of its runs works on a call. */
export interface LaunchedAgent {
	agentId: string;
	/** Counts from 1. */
	run: number;
}

export type AgentResult =
	/** `data` is the answer that matches the schema. */
	| { status: "completed"; text: string; data?: unknown; tokens: number }
	| { status: "failed" | "aborted"; error: string; tokens: number };

export interface WorkflowLimits {
	/** How many agents the script may launch in all. */
	maxAgents: number;
	/** How many items a list may have. */
	maxItems: number;
	/** How many lines the script may log, phases included. */
	maxNotes: number;
	/** How many agents are launched at once; the others wait. */
	concurrency: number;
	/** How much memory the script may use. */
	memoryMb: number;
	/** How long the script may compute without waiting for an answer. */
	cpuMs: number;
}

export const DEFAULT_LIMITS: WorkflowLimits = {
	maxAgents: 1_000,
	maxItems: 4_096,
	maxNotes: 10_000,
	concurrency: 16,
	memoryMb: 256,
	cpuMs: 10_000,
};

export interface WorkflowOptions {
	/** Names the workflow; its journal belongs to it alone. */
	id: string;
	/** The text of the script. Absent: the one in the journal. */
	script?: string | undefined;
	/** What the script finds as `args`: JSON. Only for the first run; later ones use what the journal holds. */
	args?: unknown;
	/** How many tokens its agents may use together. Absent: no limit. */
	budget?: number | undefined;
	/** Who wrote the script, for the journal. */
	author?: LaunchedBy | undefined;
	journal: Journal;
	ports: WorkflowPorts;
	/** Absent ones: 1,000 agents, lists of 4,096 items, 10,000 log lines, 16 agents at once, 256 MB and 10 seconds. */
	limits?: Partial<WorkflowLimits>;
	clock?: Clock;
	/** Called for each event, after the journal has it. */
	onEvent?: (event: JournalEvent, state: WorkflowState) => void;
}

export type WorkflowResult =
	/** `value` is what the script returned: JSON. */
	{ status: "completed"; value: unknown } | { status: "failed"; error: string } | { status: "stopped" };

export interface WorkflowRun {
	readonly script: CheckedScript;
	readonly state: WorkflowState;
	/** Never rejects. */
	readonly settled: Promise<WorkflowResult>;
	/** No more agents are launched; those that run continue. */
	pause(): void;
	continue(): void;
	/** The call gives null. Returns whether it was waiting for an answer. */
	skip(path: string): boolean;
	/** Its agent is stopped, and another one launched. Returns whether one was running. */
	retry(path: string): boolean;
	/** `stopped`: for good. `left`: the process ends, and another one will take it up. */
	end(how: "stopped" | "left"): void;
}
