/**
 * The event vocabulary: everything that can be observed of a child agent, whatever runs it.
 * Plain JSON, so that events can be written to a file and read back. Streaming deltas are not events.
 */

/** An event of a child. Every runner emits exactly these. */
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
	| Verifying
	| Verified
	| Idle;

/** The child finished a message. Its text may be blank, for example when it only called tools. */
export interface AssistantText {
	type: "assistant_text";
	text: string;
	/** Why the model stopped. Always `toolUse` for a message that calls a tool, whatever the provider reported. */
	stopReason?: string;
	/** `provider/id` of the model that answered. */
	model?: string;
	/** What went wrong, when `stopReason` is `error` or `aborted`. */
	error?: string;
	/** How long the provider asked us to wait, if its response headers said so. */
	retryAfterMs?: number;
	/** Of a workflow, whose text says where it is: all its phases so far. */
	phases?: readonly PhaseProgress[];
}

/** How far a phase of a workflow is. */
export interface PhaseProgress {
	title: string;
	/** How many of its agents have answered, of those that were called. */
	done: number;
	total: number;
}

/** The child started a tool. */
export interface ToolCall {
	type: "tool_call";
	/** Absent when the source has no id; such calls are matched with their results by name and order. */
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
	/** The tool needs no further answer. If this holds for all tools of a message, it was the child's last. */
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
	/** How full its context is, from 0 to 100, if the source knows. */
	contextPercent?: number;
}

/** The child started to compact its context. */
export interface Compacting {
	type: "compacting";
}

/** The child's context was compacted, or the attempt failed. */
export interface Compacted {
	type: "compacted";
	ok: boolean;
	/** Why, if the source says so: requested, the context was nearly full, or the provider refused its size. */
	reason?: "manual" | "threshold" | "overflow";
	/** Its size in tokens before, if the source says so. */
	tokensBefore?: number;
}

/** The provider failed and the child will retry. */
export interface Retrying {
	type: "retrying";
	attempt: number;
	maxAttempts: number;
	delayMs: number;
	error: string;
	/** How long the provider asked us to wait, if its response headers said so. */
	retryAfterMs?: number;
}

/** The model could not be used, and the child starts again with its next fallback model. */
export interface FallingBack {
	type: "falling_back";
	/** `provider/id`. */
	from: string;
	/** `provider/id`. */
	to: string;
	error: string;
}

/** The child has answered, and a command now checks its work. */
export interface Verifying {
	type: "verifying";
	/** The command, on one line. */
	command: string;
}

/** The command that checks the child's work has ended. */
export interface Verified {
	type: "verified";
	verification: Verification;
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
	/** The provider itself reported all of the cost. Otherwise it is, at least in part, pi's estimate. */
	costFromProvider?: true;
}

/** How a run settled. A failure is a value, never a rejected promise. */
export type Outcome = Completed | Failed | Aborted;

export interface Completed {
	status: "completed";
	/** The child's last message. */
	text: string;
	/** How many characters of the text are omitted here. The files of the run contain them, if they could be written. */
	omitted?: number;
	/** The child was asked to finish before it was done. */
	wrappedUp?: true;
	/** The limit that it was close to then, if not that of its turns. */
	by?: CutBy;
	/** The answer as data that matches the schema, if one was requested; or what the verifying command printed. */
	structured?: Structured;
	/** What the command that checks its work said, if there is one. */
	verification?: Verification;
	/** The state of its git worktree, if it had one. */
	worktree?: WorktreeReport;
}

/** A limit before which an agent is asked for its answer. */
export type CutBy = "timeout" | "budget";

/**
 * Who says how a run ended, if no process of ours on this machine saw it. What it gives as the error or the reason is
 * then its own text. Set by those who read it; never taken from a file.
 */
export type ClaimedBy = "file" | "machine";

export interface Failed {
	status: "failed";
	error: string;
	/** Absent: a process of ours saw it. */
	claimedBy?: ClaimedBy;
	/** What the child had written before it failed. */
	partialText?: string;
	/** How many characters of that are omitted here. */
	omitted?: number;
	/** Why the answer does not match the requested schema, if that is the failure. */
	structured?: Unstructured;
	/** What the command that checks its work said, if that is the failure. */
	verification?: Verification;
	/** The state of its git worktree, if it had one. */
	worktree?: WorktreeReport;
}

export interface Aborted {
	status: "aborted";
	by: AbortedBy;
	reason?: string;
	/** Absent: a process of ours saw it. */
	claimedBy?: ClaimedBy;
	/** What the child had written before it was stopped, including an incomplete message. */
	partialText?: string;
	/** How many characters of that are omitted here. */
	omitted?: number;
	/** The state of its git worktree, if it had one. */
	worktree?: WorktreeReport;
}

/** An answer that matches its schema. */
export interface Structured {
	ok: true;
	/** What the child answered, as JSON. */
	data: unknown;
	/** A short excerpt, for people. */
	preview: string;
}

/** An answer that does not match its schema. */
export interface Unstructured {
	ok: false;
	error: string;
	validationErrors: ValidationError[];
	/** The start of the child's answer. */
	rawPreview: string;
}

/** One mismatch between an answer and its schema. */
export interface ValidationError {
	/** A JSON Pointer; `""` is the whole answer. */
	path: string;
	message: string;
}

/** What the command that checks an agent's work said, or why it did not run. */
export interface Verification {
	ok: boolean;
	/** On one line. Absent if it did not run. */
	command?: string;
	/** The machine that ran it and says so, if that is not this one. */
	on?: string;
	durationMs?: number;
	/** Why the work is not verified. */
	problem?: string;
	/** The end of what a failed command printed. */
	tail?: string;
}

/** The state of an agent's git worktree after its run. */
export interface WorktreeReport {
	/** The branch with the changes; absent when there are none. */
	branch?: string;
	/** The directory of the worktree; absent when it was removed. */
	path?: string;
	/** The commit that the agent started from. */
	base: string;
	files: number;
	insertions: number;
	deletions: number;
	/** A command that merges the changes, ready to paste. */
	merge?: string;
	/** What went wrong, and where the changes are instead. May repeat names that the agent chose. */
	problems?: string[];
}

/** Who or what stopped a run. `lost` means that it died without reporting anything. */
export type AbortedBy = "user" | "parent" | "turns" | "timeout" | "idle" | "budget" | "shutdown" | "lost";
