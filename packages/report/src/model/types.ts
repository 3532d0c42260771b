/** The model behind every report: runs of agents as spans on one time axis. Plain JSON; times are whole milliseconds. */
import type { Outcome, Usage, ValidationError, Verification, WorktreeReport } from "@pi-subagents/progress";

/** Everything that a report shows. */
export interface Report {
	format: 1;
	title: string;
	/** The pi session, if all runs belong to one. */
	sessionId?: string;
	createdAt: number;
	/** The first launch and the last end. */
	startedAt: number;
	endedAt: number;
	/** Tool arguments, tool output and diffs are included. */
	isFull: boolean;
	/** Parents before their children, siblings in the order of launching. */
	agents: ReportAgent[];
	/** Of all runs. */
	usage: Usage;
	/** What the end waited for, in order: these steps do not overlap. */
	criticalPath: PathStep[];
	/** What could not be read. */
	problems: string[];
}

/** One run of an agent. A resumed agent has several, each with its own id. */
export interface ReportAgent {
	/** The id of the run. */
	id: string;
	agentId: string;
	/** Counts from 1. */
	run: number;
	/** The run that launched it; absent if the session or the user did. */
	parentId?: string;
	/** The tool call that launched it. */
	callId?: string;
	/** `user`, `model`, `rpc` or `schedule`. */
	launchedBy?: string;
	/** 1 below the session. */
	depth: number;
	name?: string;
	/** The phase of the workflow that launched it. */
	phase?: string;
	/** The machine that it ran on, if not this one. */
	machine?: string;
	preset: string;
	description: string;
	task: string;
	cwd: string;
	model: string;
	runner: string;
	isBackground: boolean;
	status: AgentStatus;
	queuedAt: number;
	/** Absent if it never started. */
	startedAt?: number;
	/** The end, or the time of the report if it still runs. */
	endedAt: number;
	/** Its own, without the agents that it launched. */
	usage: Usage;
	turns: number;
	toolUses: number;
	/** In the order of their starts. Spans of tools may overlap; all lie within the run. */
	spans: Span[];
	/** What it said and did, in order. */
	transcript: TranscriptEntry[];
	/** The answer, or what there was of it. */
	answer?: string;
	error?: string;
	/** Who stopped it, and why. */
	stoppedBy?: string;
	structured?: StructuredAnswer;
	/** What the command that checks its work said. */
	verification?: Verification;
	worktree?: WorktreeReport;
	/** The changes in its worktree, in a full report. */
	diff?: string;
}

/** `running` as far as its files say. */
export type AgentStatus = Outcome["status"] | "queued" | "running";

/** The answer as data, or why it does not match its schema. */
export type StructuredAnswer = { ok: true; data: unknown } | { ok: false; errors: readonly ValidationError[] };

export type SpanKind = (typeof SPAN_KINDS)[number];

/** What an agent's time went into. `agents` and `person`: it waited for them. */
export const SPAN_KINDS = [
	"queued",
	"model",
	"tool",
	"agents",
	"person",
	"retry",
	"compaction",
	"verification",
] as const;

export interface Span {
	kind: SpanKind;
	start: number;
	end: number;
	/** One line for people. */
	label: string;
	tool?: string;
	callId?: string;
	/** What the model's answer cost. */
	usage?: Usage;
	/** `provider/id` of the model that answered. */
	model?: string;
	error?: string;
	/** It had not ended when the run did, or when the report was made. */
	isCut?: true;
}

/** A step of the critical path. */
export interface PathStep {
	/** The id of the run. */
	id: string;
	start: number;
	end: number;
}

export type TranscriptEntry = { at: number } & (
	| { type: "text"; text: string }
	| { type: "tool"; text: string; isError?: true; args?: string; output?: string }
	| { type: "asked" | "answered" | "steered" | "note" | "error"; text: string }
);
