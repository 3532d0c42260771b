/** The events about agents, settings and schedules that are emitted on the bus. Types and names only. */
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
	resumed: "subagents:resumed",
	steered: "subagents:steered",
	compacted: "subagents:compacted",
	entry: "subagents:entry",
	delta: "subagents:delta",
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
	/** The server is ready and a session is open. Emitted again after a reload. */
	ready: Record<never, never>;
	/** An agent was accepted. */
	created: AgentNews & { isBackground: boolean };
	/** A run of the agent started. */
	started: AgentNews;
	completed: SettledAgent;
	/** The agent failed or was stopped. */
	failed: SettledAgent;
	/** A resumed agent settled, in whatever way. Comes after `completed` or `failed`. */
	resumed: SettledAgent;
	/** The agent got another instruction. */
	steered: { id: string; message: string };
	/** Its context was compacted. */
	compacted: Compaction;
	/** The agent finished a step. */
	entry: AgentStep;
	/** The agent writes. Sent only while it is read. */
	delta: WrittenPiece;
	scheduled: ScheduleNews;
	scheduler_ready: { sessionId: string; jobCount: number };
	settings_loaded: { settings: Readonly<Record<string, unknown>> };
	settings_changed: { settings: Readonly<Record<string, unknown>>; persisted: boolean };
	/** The session of an agent was created; no other extension has run in it yet. No parent where no one can answer it. */
	"child:session-created": { sessionId: string; parentSessionId?: string };
	/** The extensions of that session are bound. */
	"child:bound": { sessionId: string };
	"child:disposed": { sessionId: string };
}

/** The agent that an event is about. */
export interface AgentNews {
	id: string;
	/** The name of its preset. */
	type: string;
	description: string;
	/** 1 for an agent started by the session. Absent with a server of version 2. */
	depth?: number;
	/** The agent that started it, if any. */
	parentAgentId?: string;
}

/** A settled agent and its outcome. */
export interface SettledAgent extends AgentNews {
	/** Its answer, or what it had written before it failed. */
	result?: string;
	/** What went wrong. */
	error?: string;
	status: V2Status;
	toolUses: number;
	durationMs: number;
	/** Absent when it used no tokens. */
	tokens?: Tokens;
	/** In pi's format. */
	usage?: Readonly<Record<string, unknown>>;
	/** The answer as data, if a schema was requested. */
	structured?: unknown;
	/** The complete outcome. Absent with a server of version 2. */
	outcome?: Outcome;
}

export interface Compaction extends AgentNews {
	/** Absent if the runner did not report it. */
	reason?: "manual" | "threshold" | "overflow";
	/** The size of its context before. Absent if the runner did not report it. */
	tokensBefore?: number;
	/** How often its context has been compacted. */
	compactionCount: number;
}

/** A finished step of an agent: what it said or thought, a tool that ended, or an error. */
export interface AgentStep {
	/** The format. */
	v: 1;
	agentId: string;
	/** Counts from 0 for each agent. */
	seq: number;
	kind: "text" | "thinking" | "tool" | "error";
	/** What it wrote; for a tool, a line for people. Not sanitized for a terminal. */
	text: string;
	/** The name of the tool. */
	tool?: string;
	/** How long the tool took. */
	durationMs?: number;
	isError?: boolean;
	/** The block that `delta` events sent before. */
	blockId?: number;
	/** Always empty: known to the tool call itself. */
	toolCallId: string;
	/** The same as `seq`, for dashboards. */
	index: number;
	/** The same step in the format of dashboards. */
	entry: Readonly<Record<string, unknown>>;
}

/** A part of a text or thinking block that an agent is writing. */
export interface WrittenPiece {
	/** The format. */
	v: 1;
	agentId: string;
	/** Always empty: known to the tool call itself. */
	toolCallId: string;
	/** Counts from 0 for each agent. A block may be empty. */
	blockId: number;
	kind: "text" | "thinking";
	/** Where the text begins in its block, in UTF-16 code units. */
	offset: number;
	text: string;
	/** The last piece of its block; each block has exactly one. */
	final: boolean;
}

/** A change of a scheduled job. */
export type ScheduleNews =
	| { type: "added" | "updated"; job: Readonly<Record<string, unknown>> }
	| { type: "removed"; jobId: string }
	| { type: "fired"; jobId: string; agentId: string; name: string }
	| { type: "error"; jobId: string; error: string };
