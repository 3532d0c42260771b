/** What the bus is told of agents, settings and schedules without anybody asking. Types and names only. */
import type { Outcome } from "./outcome.ts";
import type { Tokens } from "./protocol.ts";
import type { V2Status } from "./status.ts";

/** Where each event is emitted. */
export const lifecycleChannels = {
	ready: "subagents:ready",
	created: "subagents:created",
	started: "subagents:started",
	completed: "subagents:completed",
	failed: "subagents:failed",
	steered: "subagents:steered",
	compacted: "subagents:compacted",
	scheduled: "subagents:scheduled",
	scheduler_ready: "subagents:scheduler_ready",
	settings_loaded: "subagents:settings_loaded",
	settings_changed: "subagents:settings_changed",
	"child:session-created": "subagents:child:session-created",
	"child:bound": "subagents:child:bound",
	"child:disposed": "subagents:child:disposed",
} as const;

export type LifecycleEvent = keyof typeof lifecycleChannels;

/** What each event carries. */
export interface LifecycleEvents {
	/** The server answers, and a session is open. Comes again after a reload. */
	ready: Record<never, never>;
	/** An agent was accepted. */
	created: AgentNews & { isBackground: boolean };
	/** A run of it began. */
	started: AgentNews;
	/** It ended as it should. */
	completed: SettledAgent;
	/** It failed, or was stopped. */
	failed: SettledAgent;
	/** Somebody gave it another instruction. */
	steered: { id: string; message: string };
	/** Its context was shortened. */
	compacted: Compaction;
	scheduled: ScheduleNews;
	scheduler_ready: { sessionId: string; jobCount: number };
	settings_loaded: { settings: Readonly<Record<string, unknown>> };
	settings_changed: { settings: Readonly<Record<string, unknown>>; persisted: boolean };
	/** A session for an agent exists, and nothing of others has run in it yet. */
	"child:session-created": { sessionId: string; parentSessionId?: string };
	/** The extensions of that session are bound. */
	"child:bound": { sessionId: string };
	"child:disposed": { sessionId: string };
}

/** Who an event is about. */
export interface AgentNews {
	id: string;
	/** The name of its preset. */
	type: string;
	description: string;
	/** 1 for an agent that the session launched. Absent from a server that only knows version 2. */
	depth?: number;
	/** The agent that launched it, if one did. */
	parentAgentId?: string;
}

/** An agent that has settled, and how. */
export interface SettledAgent extends AgentNews {
	/** What it said, or had said until it failed. */
	result?: string;
	/** What went wrong. */
	error?: string;
	status: V2Status;
	toolUses: number;
	durationMs: number;
	/** Absent when it used none. */
	tokens?: Tokens;
	/** In pi's own terms. */
	usage?: Readonly<Record<string, unknown>>;
	/** The answer as data, where a schema was asked for. */
	structured?: unknown;
	/** The same in our own words, with all that there is. Absent from a server that only knows version 2. */
	outcome?: Outcome;
}

export interface Compaction extends AgentNews {
	/** Absent where whoever ran the agent did not say. */
	reason?: "manual" | "threshold" | "overflow";
	/** How many tokens its context held. Absent where whoever ran the agent did not say. */
	tokensBefore?: number;
	/** How often that has happened to it. */
	compactionCount: number;
}

/** What happened to a job of the scheduler. */
export type ScheduleNews =
	| { type: "added" | "updated"; job: Readonly<Record<string, unknown>> }
	| { type: "removed"; jobId: string }
	| { type: "fired"; jobId: string; agentId: string; name: string }
	| { type: "error"; jobId: string; error: string };
