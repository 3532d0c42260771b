/** What a pi child agent does, in one vocabulary, and the words that tell people about it. */
export { beginningOf } from "./clip.ts";
export { createDescriber, type Description, describe, describeAll, type Memory, type PendingCall } from "./describe.ts";
export type {
	Aborted,
	AbortedBy,
	AssistantText,
	ChildEvent,
	Compacted,
	Compacting,
	Completed,
	Failed,
	FallingBack,
	Idle,
	Outcome,
	Retrying,
	Structured,
	ToolCall,
	ToolResult,
	TurnEnded,
	Unstructured,
	Usage,
	UsageReported,
	ValidationError,
	WorktreeReport,
} from "./events.ts";
export { formatCost, formatCount, formatDuration, formatTokens } from "./format.ts";
export { createLineSplitter, type LineSplitter, type LineSplitterOptions, MAX_LINE_BYTES } from "./lines.ts";
export { normalize } from "./normalize.ts";
export { type OutcomeTextOptions, outcomeText } from "./outcome.ts";
export { defaultNotices, defaultPhrases, type Notices, type Phrase } from "./phrases.ts";
export { sanitize, sanitizeBlock } from "./sanitize.ts";
export type { DescribeOptions } from "./wording.ts";
