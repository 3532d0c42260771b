export { createGuards, type Guard, type GuardReport, type GuardRule, type Guards } from "../extensions/guards.ts";
export { type RunningExtension, runningExtensions } from "../extensions/running.ts";
export { type SharedTools, sharedTools } from "../extensions/shared-tools.ts";
export { previewSession, type SessionPreview } from "./create-child-session.ts";
export { conversationOf } from "./history/conversation.ts";
export { conversationsWritten } from "./history/conversation-file.ts";
export { inheritConversation } from "./history/inherited.ts";
export {
	type FileTranscript,
	openTranscript,
	openTranscriptFile,
	type TranscriptFile,
} from "./history/transcript-file.ts";
export { requireResources, toolExtension } from "./resources/extensions.ts";
export type { SessionHost, SessionUi } from "./resources/host.ts";
export { mcpFacts } from "./resources/mcp.ts";
export { sessionRunner } from "./runner.ts";
export { askTool, sessionTools } from "./tools.ts";
