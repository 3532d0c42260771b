export { RpcError } from "./ask.ts";
export type { Bus } from "./bus.ts";
export type { SpawnRequest, Subagents } from "./client.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export {
	type AgentNews,
	type Compaction,
	type LifecycleEvent,
	type LifecycleEvents,
	lifecycleChannels,
	type ScheduleNews,
	type SettledAgent,
} from "./lifecycle.ts";
export type { Aborted, Completed, Failed, Outcome, Worktree } from "./outcome.ts";
export {
	type AgentInfo,
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
} from "./protocol.ts";
export { type Checked, type CheckedOptions, type CheckedSpawn, readRequest } from "./request.ts";
export { type Handlers, type ServeOptions, serve } from "./serve.ts";
export { isV2Failure, toV2Status, type V2Status } from "./status.ts";
