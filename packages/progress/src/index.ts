/** The events of a pi child agent, and their one formatter for people. */
export { checkArguments } from "./arguments/check-arguments.ts";
export { beginningOf } from "./clip.ts";
export { createDescriber, type Description, describe, describeAll, type Memory, type PendingCall } from "./describe.ts";
export { type Fenced, type FenceKind, type FenceOptions, fence, fenceParts, unfenced } from "./fence.ts";
export { formatCost, formatCount, formatDuration, formatTokens } from "./format.ts";
export { createLineSplitter, type LineSplitter, type LineSplitterOptions, MAX_LINE_BYTES } from "./lines.ts";
export { type BlockDelta, blockDelta, normalize, textDelta } from "./normalize.ts";
export {
	checkOutput,
	claimText,
	endText,
	isPlainSuccess,
	type ModelTextOptions,
	type OutcomeTextOptions,
	outcomeText,
	readableError,
	verificationText,
	whyText,
} from "./outcome-text.ts";
export type { Notices, Phrase } from "./phrases.ts";
export { safeJson } from "./safe-json.ts";
export { sanitize, sanitizeBlock } from "./sanitize.ts";
export type {
	AssistantText,
	ChildEvent,
	Compacted,
	Compacting,
	FallingBack,
	Idle,
	PhaseProgress,
	Retrying,
	ToolCall,
	ToolResult,
	TurnEnded,
	UsageReported,
	Verified,
	Verifying,
} from "./schema/events.ts";
export type {
	Aborted,
	Completed,
	Failed,
	Outcome,
	OutcomeFacts,
	Structured,
	Unstructured,
	Usage,
	ValidationError,
	Verification,
	WorktreeReport,
} from "./schema/outcome.ts";
export {
	ABORTERS,
	type AbortedBy,
	ADDRESSEES,
	ANSWERERS,
	CHILD_EVENT_TYPES,
	CHOSEN_RUNNERS,
	type ChosenRunner,
	CLAIMANTS,
	type ClaimedBy,
	CUTTERS,
	type CutBy,
	isOneOf,
	isSettled,
	isThinkingLevel,
	LAUNCHERS,
	type LaunchedBy,
	NOTICE_LEVELS,
	RUNNER_NAMES,
	type RunnerName,
	SETTLED_STATUSES,
	type SettledStatus,
	type Status,
	THINKING_LEVELS,
	type ThinkingLevel,
} from "./schema/vocabulary.ts";
export {
	isElsewhere,
	lookOf,
	SPINNER,
	STATUS_LOOKS,
	type StatusLook,
	type StatusView,
	tally,
	tallyText,
	type WaitsFor,
} from "./status.ts";
export type { DescribeOptions } from "./wording.ts";
