export type {
	AbortedBy,
	ChildEvent,
	LaunchedBy,
	Outcome,
	RunnerName,
	Status,
	ThinkingLevel,
	Usage,
} from "@pi-subagents/progress";
export { type Alert, type AlertPorts, type AlertRules, alertSequence, followAlerts } from "./alert/alert.ts";
export type { Report } from "./base/best-effort.ts";
export { type Clock, steadyClock, systemClock } from "./base/clock.ts";
export { AgentError, type AgentErrorCode } from "./base/error.ts";

export {
	type FollowLiveOptions,
	followLive,
	type LiveDelta,
	type LiveEntry,
	type LiveFeed,
	type LiveListener,
} from "./follow/live-steps.ts";
export { type Agents, allAgents } from "./manager/agents.ts";
export type { AskedDialog, ShowDialog } from "./manager/dialogs.ts";
export { findAgent, findCandidate } from "./manager/find-agent.ts";
export type { AdoptedRun, AskedQuestion, StoppedRun } from "./manager/live-agents.ts";
export { type LaunchOptions, Manager, type ManagerOptions, type WaitOptions } from "./manager/manager.ts";
export type { AgentUi, Dialog, DialogAnswer, ExtensionNotice } from "./model/dialog.ts";
export type { AgentEvent, Envelope, LifeCycleEvent } from "./model/event.ts";
export type { LivePiece, PieceListener } from "./model/live-piece.ts";
export { abortedOutcome, outcomeOf } from "./model/outcome.ts";
export { allTools } from "./model/own-tools.ts";
export { type Addressee, type Audience, fencedQuestion } from "./model/question.ts";
export type { AgentRecord } from "./model/record.ts";
export { reduce } from "./model/reduce.ts";
export {
	type Checkpoint,
	type ChildSession,
	type Emit,
	INHERITED,
	type Run,
	type RunIdentity,
	type Runner,
	type RunSpec,
	runIdOf,
	type Stop,
} from "./model/runner.ts";
export type {
	AgentAnswered,
	AgentAsked,
	AgentQueued,
	AgentSettled,
	AgentStarted,
	AgentSteered,
	MovedToBackground,
	ResultArchived,
} from "./model/schema/events.ts";
export type { AgentIdentity } from "./model/schema/launch.ts";
export type { Answer, Question } from "./model/schema/question.ts";
export type {
	Confinement,
	GivenByCall,
	Limits,
	MemoryScope,
	OutputSpec,
	ResolvedField,
	SpecOrigin,
} from "./model/schema/spec.ts";
export { type Archive, type Snapshot, Store, type StoreChange, type StoreListener } from "./model/store.ts";
export type { Transcript, TranscriptEntry } from "./model/transcript.ts";
export { addUsage, billedTokens, cachedShare, NO_USAGE, type TreeUsage, treeUsage, workTokens } from "./model/usage.ts";
export type { SlotLimits } from "./queue/limits.ts";
export type { SlotsSnapshot } from "./queue/slots.ts";
export type {
	CwdFact,
	Defaults,
	Facts,
	LaunchRequest,
	ParentFields,
	PresetFields,
	ReplacedTools,
	ResolveInput,
	Tunable,
	VerifyFields,
} from "./resolve/input.ts";
export type { McpFacts, McpToolFact } from "./resolve/mcp.ts";
export { isToolOf } from "./resolve/mcp-names.ts";
export { type ModelFact, type ModelMatch, matchModel, modelName, splitModelName } from "./resolve/models.ts";
export { matchPresetModel, type PresetModel } from "./resolve/preset-model.ts";
export { resolveSpec } from "./resolve/resolve-spec.ts";
export { nearest, resolveTools, type ToolFact, type ToolRequest, type ToolRules } from "./resolve/tools.ts";
