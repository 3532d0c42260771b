export type { SessionHost } from "./open.ts";
export { previewSession, type SessionPreview } from "./preview.ts";
export { sessionRunner } from "./runner.ts";
export { sessionTools } from "./tools.ts";
