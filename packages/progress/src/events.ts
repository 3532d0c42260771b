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
	| FallingBack
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
	/** The tool says that nothing needs to be said after it. If all tools of a message do, it was the child's last. */
	terminates?: true;
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
	/** Why it was shortened, where the source says so: somebody asked for it, it grew too full, or the provider refused it. */
	reason?: "manual" | "threshold" | "overflow";
	/** How many tokens it held, where the source says so. */
	tokensBefore?: number;
}

/** The provider failed and the child will ask it again. */
export interface Retrying {
	type: "retrying";
	attempt: number;
	maxAttempts: number;
	delayMs: number;
	error: string;
}

/** The model could not be used, and the child begins anew with the next one that its preset names. */
export interface FallingBack {
	type: "falling_back";
	/** `provider/id`. */
	from: string;
	/** `provider/id`. */
	to: string;
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
	/** The answer as data, where a schema was asked for. It matches that schema. */
	structured?: Structured;
	/** What became of its own checkout, where it had one. */
	worktree?: WorktreeReport;
}

export interface Failed {
	status: "failed";
	error: string;
	/** What the child had said before it failed. */
	partialText?: string;
	/** Why the answer does not match the schema that was asked for, where that is the failure. */
	structured?: Unstructured;
	/** What became of its own checkout, where it had one. */
	worktree?: WorktreeReport;
}

export interface Aborted {
	status: "aborted";
	by: AbortedBy;
	reason?: string;
	/** What the child had said before it was stopped. */
	partialText?: string;
	/** What became of its own checkout, where it had one. */
	worktree?: WorktreeReport;
}

/** An answer that matches its schema. */
export interface Structured {
	ok: true;
	/** What the child answered, as JSON. */
	data: unknown;
	/** A few words of it, for people. */
	preview: string;
}

/** An answer that does not match its schema. */
export interface Unstructured {
	ok: false;
	error: string;
	validationErrors: ValidationError[];
	/** The beginning of what the child answered instead. */
	rawPreview: string;
}

/** One thing that is wrong with an answer. */
export interface ValidationError {
	/** A JSON Pointer; `""` is the whole answer. */
	path: string;
	message: string;
}

/** What became of a checkout that an agent had for itself. */
export interface WorktreeReport {
	/** Holds the changes; absent when there are none. */
	branch?: string;
	/** The directory of the checkout; absent when it was removed. */
	path?: string;
	/** The commit that the agent began with. */
	base: string;
	files: number;
	insertions: number;
	deletions: number;
	/** How to take over the changes: program and arguments, ready to be pasted. */
	merge?: string;
	/** What could not be done as it should be, and where the changes are instead. */
	problems?: string[];
}

/** Who or what stopped a run. `lost` means that it died without saying anything. */
export type AbortedBy = "user" | "parent" | "turns" | "timeout" | "idle" | "budget" | "shutdown" | "lost";
