export { RpcError } from "./ask.ts";
export type { Bus } from "./bus.ts";
export type { SpawnRequest, Subagents } from "./client.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export {
	type AgentNews,
	type AgentStep,
	type Compaction,
	type LifecycleEvent,
	type LifecycleEvents,
	lifecycleChannels,
	type ScheduleNews,
	type SettledAgent,
	type WrittenPiece,
} from "./lifecycle.ts";
export type { Aborted, Completed, Failed, Outcome } from "./outcome.ts";
export {
	type AgentDefinition,
	type AgentInfo,
	type AgentRegistration,
	type Cost,
	isReply,
	type Method,
	PROTOCOL_VERSION,
	type Replies,
	type Reply,
	type Requests,
	replyChannel,
	requestChannels,
	type ServerInfo,
	type SpawnOptions,
	type Tokens,
	type WorkflowRequest,
} from "./protocol.ts";
export { REGISTER_EVENT, type RegisterAgent, serveRegistrations } from "./server/register-event.ts";
export {
	createRegistry,
	type LifetimeUsage,
	type ManagerRegistry,
	type RegistryPort,
	type RegistryRecord,
	type RegistryServer,
	type RegistrySession,
	type RegistryState,
} from "./server/registry.ts";
export { type Checked, type CheckedSpawn, type CheckedWorkflow, readRequest } from "./server/request.ts";
export { type Handlers, type ServeOptions, serve } from "./server/serve.ts";
export type { CheckedOptions } from "./server/spawn-options.ts";
export { isV2Failure, toV2Status, type V2Status } from "./status.ts";
