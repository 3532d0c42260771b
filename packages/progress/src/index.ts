/** The events of a pi child agent, and their one formatter for people. */
export { checkArguments } from "./arguments/check-arguments.ts";
export { beginningOf } from "./clip.ts";
export { createDescriber, type Description, describe, describeAll, type Memory, type PendingCall } from "./describe.ts";
export type {
	Aborted,
	AbortedBy,
	AssistantText,
	ChildEvent,
	ClaimedBy,
	Compacted,
	Compacting,
	Completed,
	CutBy,
	Failed,
	FallingBack,
	Idle,
	Outcome,
	PhaseProgress,
	Retrying,
	Structured,
	ToolCall,
	ToolResult,
	TurnEnded,
	Unstructured,
	Usage,
	UsageReported,
	ValidationError,
	Verification,
	Verified,
	Verifying,
	WorktreeReport,
} from "./events.ts";
export { type FenceKind, type FenceOptions, fence, unfenced } from "./fence.ts";
export { formatCost, formatCount, formatDuration, formatTokens } from "./format.ts";
export { createLineSplitter, type LineSplitter, type LineSplitterOptions, MAX_LINE_BYTES } from "./lines.ts";
export { type BlockDelta, blockDelta, normalize, textDelta } from "./normalize.ts";
export type { Notices, Phrase } from "./phrases.ts";
export { safeJson } from "./safe-json.ts";
export { sanitize, sanitizeBlock } from "./sanitize.ts";
export {
	checkOutput,
	claimText,
	endText,
	isElsewhere,
	lookOf,
	type OutcomeTextOptions,
	outcomeText,
	readableError,
	SPINNER,
	STATUS_LOOKS,
	type StatusLook,
	type StatusView,
	tallyText,
	verificationText,
	type WaitsFor,
} from "./status.ts";
export type { DescribeOptions } from "./wording.ts";
