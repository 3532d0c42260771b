/**
 * The vocabulary: everything a child agent can be seen doing, whatever runs it.
 * Plain JSON, so that events can be written to a file and read back. Streaming deltas are not events.
 */

/** What happened inside a child. Every runner speaks this and nothing else. */
export type ChildEvent =
	| AssistantText
	| ToolCall
	| ToolResult
	| UsageReported
	| TurnEnded
	| Compacting
	| Compacted
	| Retrying
	| Idle;

/** The child finished a message. Its text may be blank, for example when it only called tools. */
export interface AssistantText {
	type: "assistant_text";
	text: string;
	/** Why the model stopped. A message that calls a tool always says `toolUse`, whatever the provider said. */
	stopReason?: string;
	/** `provider/id` of the model that answered. */
	model?: string;
	/** What went wrong, when `stopReason` is `error` or `aborted`. */
	error?: string;
}

/** The child started a tool. */
export interface ToolCall {
	type: "tool_call";
	/** Absent when the source gave no id; such calls are matched with their results by name and order. */
	callId?: string;
	tool: string;
	args: Record<string, unknown>;
}

/** A tool of the child ended. */
export interface ToolResult {
	type: "tool_result";
	callId?: string;
	tool: string;
	isError: boolean;
}

/** What one model answer cost. */
export interface UsageReported {
	type: "usage";
	usage: Usage;
}

/** The child finished a turn: one model answer and the tools it called. */
export interface TurnEnded {
	type: "turn";
	/** How full its context is, from 0 to 100, where the source knows. */
	contextPercent?: number;
}

/** The child began to shorten its context. */
export interface Compacting {
	type: "compacting";
}

/** The child's context was shortened, or the attempt ended without success. */
export interface Compacted {
	type: "compacted";
	ok: boolean;
}

/** The provider failed and the child will ask it again. */
export interface Retrying {
	type: "retrying";
	attempt: number;
	maxAttempts: number;
	delayMs: number;
	error: string;
}

/** The child has nothing left to do: no tool, retry, compaction or queued message. */
export interface Idle {
	type: "idle";
}

/** Tokens and money. `cacheRead` is billed but is not new work. */
export interface Usage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	/** In US dollars. */
	cost: number;
}

/** How a run settled. A failure is a value, never a rejected promise. */
export type Outcome = Completed | Failed | Aborted;

export interface Completed {
	status: "completed";
	/** The child's last message. */
	text: string;
	/** The child was told to finish because it reached its turn limit. */
	wrappedUp?: true;
}

export interface Failed {
	status: "failed";
	error: string;
	/** What the child had said before it failed. */
	partialText?: string;
}

export interface Aborted {
	status: "aborted";
	by: AbortedBy;
	reason?: string;
	/** What the child had said before it was stopped. */
	partialText?: string;
}

/** Who or what stopped a run. `lost` means that it died without saying anything. */
export type AbortedBy = "user" | "parent" | "turns" | "timeout" | "idle" | "budget" | "shutdown" | "lost";
