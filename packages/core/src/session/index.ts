export { askTool } from "./ask-tool.ts";
export { conversationOf } from "./conversation.ts";
export type { SessionHost } from "./host.ts";
export { previewSession, type SessionPreview } from "./preview.ts";
export { sessionRunner } from "./runner.ts";
export { sessionTools } from "./tools.ts";
export { type FileTranscript, openTranscript, openTranscriptFile, type TranscriptFile } from "./transcript-file.ts";
