/** Durable workflow scripts, without pi: the checks, the engine and the journal. */

export { runWorkflow } from "./engine/engine.ts";
export type { AgentRequest, AskRequest } from "./engine/options.ts";
export type {
	AgentCall,
	AgentResult,
	LaunchedAgent,
	WorkflowLimits,
	WorkflowOptions,
	WorkflowPorts,
	WorkflowResult,
	WorkflowRun,
} from "./engine/ports.ts";
export { type Answer, type JournalEvent, parseJournal } from "./journal/events.ts";
export { fileJournal, type Journal, memoryJournal } from "./journal/file.ts";
export { type CallState, type WorkflowState, workflowState } from "./journal/state.ts";
export { ScriptError } from "./script/literal.ts";
export type { Meta, OnError, Phase } from "./script/meta.ts";
export { type CheckedScript, checkScript } from "./script/script.ts";
