/** The tools that a model calls to work with agents, each as a function of small ports. */

export { type AgentCallDetails, type AgentToolDeps, createAgentTool } from "./agent-tool.ts";
export { type BackgroundAgentToolDeps, createBackgroundAgentTool } from "./background-agent-tool.ts";
export { createBackgroundStatusTool } from "./background-status-tool.ts";
export { createGetResultTool, type GetResultToolDeps } from "./get-result-tool.ts";
export { createListModelsTool } from "./list-models-tool.ts";
export { createNestedTools } from "./nested-tools.ts";
export type { AgentCall } from "./parameters/agent-parameters.ts";
export { modelParameter } from "./parameters/model-parameter.ts";
export { createRegistrationGate } from "./parameters/registration-gate.ts";
export type { AgentFinder, AgentSpawner, BackgroundRuns, ResolveSpec, ResultClaims } from "./ports.ts";
export { renderNotification } from "./render/notification.ts";
export { keepRowsOverReload } from "./render/reload.ts";
export { createReplyTool } from "./reply-tool.ts";
export { createStartSubagentTool, keepLaunchesApart, type StartSubagentToolDeps } from "./start-subagent-tool.ts";
export { createSteerTool } from "./steer-tool.ts";
export { createStopTool, type StopToolDeps } from "./stop-tool.ts";
export { createSubagentTool, type SubagentDetails, type SubagentToolDeps } from "./subagent-tool.ts";
export { type KeepDetails, keepFailedDetails } from "./waiting/failed-details.ts";
export type { AgentWaiter, OnGivenUp } from "./waiting/foreground.ts";
export { createUsageReport, toPiUsage, type UsageReport } from "./waiting/usage-report.ts";
export { createUserInputSignal, type UserInputSignal } from "./waiting/user-input-signal.ts";
export {
	createWorkflowTool,
	type WorkflowStarter,
	type WorkflowToolCall,
	type WorkflowToolDeps,
} from "./workflow-tool.ts";
