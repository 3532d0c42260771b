export type {
	AbortedBy,
	AssistantText,
	ChildEvent,
	Outcome,
	Usage,
} from "@pi-subagents/progress";
export { type Addressee, type Answer, type Audience, addresseeOf, type Question } from "./asking.ts";
export { bestEffort, messageOf, type Report } from "./best-effort.ts";
export { type Clock, steadyClock, systemClock } from "./clock.ts";
export { AgentError, type AgentErrorCode, quoted } from "./error.ts";
export type {
	AgentAnswered,
	AgentAsked,
	AgentEvent,
	AgentFiled,
	AgentIdentity,
	AgentLeft,
	AgentQueued,
	AgentSettled,
	AgentStarted,
	AgentSteered,
	Envelope,
	LifeCycleEvent,
	RunnerName,
} from "./event.ts";
export type { AdoptedRun, AskedQuestion } from "./live.ts";
export { type LaunchOptions, Manager, type ManagerOptions, type WaitOptions } from "./manager.ts";
export { type ModelFact, type ModelMatch, matchModel, modelName, splitModelName } from "./models.ts";
export { defaultOutboxSettings, newOutbox, step as stepOutbox } from "./outbox.ts";
export type * from "./outbox-types.ts";
export { abortedOutcome, outcomeOf } from "./outcome.ts";
export type { AgentRecord } from "./record.ts";
export { reduce } from "./reduce.ts";
export { resolveSpec } from "./resolve.ts";
export type {
	CwdFact,
	Defaults,
	Facts,
	LaunchRequest,
	ParentFields,
	PresetFields,
	ResolveInput,
	Tunable,
} from "./resolve-input.ts";
export {
	type Checkpoint,
	type Confinement,
	type Emit,
	INHERITED,
	isThinkingLevel,
	type Limits,
	type MemoryScope,
	type OutputSpec,
	type ResolvedField,
	type Run,
	type RunIdentity,
	type Runner,
	type RunSpec,
	runIdOf,
	type SpecOrigin,
	type Stop,
	type ThinkingLevel,
} from "./runner.ts";
export type { ManagerScope } from "./scope.ts";
export type { SlotsSnapshot } from "./slots.ts";
export type { SlotLimits } from "./slots-limits.ts";
export { isSettled, type SettledStatus, type Status } from "./status.ts";
export { type Past, type Snapshot, Store, type StoreListener } from "./store.ts";
export { nearest, resolveTools, type ToolFact, type ToolRequest, type ToolRules } from "./tools.ts";
export type { Transcript, TranscriptEntry } from "./transcript.ts";
export { addUsage, billedTokens, cachedShare, type TreeUsage, treeUsage, workTokens } from "./usage.ts";
