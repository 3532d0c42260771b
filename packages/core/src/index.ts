export type {
	AbortedBy,
	AssistantText,
	ChildEvent,
	Outcome,
	Usage,
} from "@pi-subagents/progress";
export { bestEffort, messageOf, type Report } from "./best-effort.ts";
export { AgentError, type AgentErrorCode } from "./error.ts";
export type {
	AgentAnswered,
	AgentAsked,
	AgentEvent,
	AgentIdentity,
	AgentQueued,
	AgentSettled,
	AgentStarted,
	AgentSteered,
	Envelope,
	LifeCycleEvent,
	RunnerName,
} from "./event.ts";
export { type LaunchOptions, Manager, type ManagerOptions } from "./manager.ts";
export { type ModelFact, type ModelMatch, matchModel, modelName } from "./models.ts";
export { abortedOutcome, outcomeOf } from "./outcome.ts";
export type { AgentRecord } from "./record.ts";
export { reduce } from "./reduce.ts";
export {
	type CwdFact,
	type Defaults,
	type Facts,
	type LaunchRequest,
	type ParentFields,
	type PresetFields,
	type ResolveInput,
	resolveSpec,
	type Tunable,
} from "./resolve.ts";
export {
	isThinkingLevel,
	type Limits,
	type ResolvedField,
	type Run,
	type RunIdentity,
	type Runner,
	type RunSpec,
	type SpecOrigin,
	type Stop,
	type ThinkingLevel,
} from "./runner.ts";
export { isSettled, type SettledStatus, type Status } from "./status.ts";
export { type Snapshot, Store, type StoreListener } from "./store.ts";
export { nearest, resolveTools, type ToolFact, type ToolRequest, type ToolRules } from "./tools.ts";
