export type { ViewerKeys } from "./keys.ts";
export type { Relative, ViewerActions, ViewerOptions, ViewerQuestion } from "./options.ts";
export type { ConversationEntry, ConversationSource } from "./source.ts";
export type { ViewerTheme } from "./theme.ts";
export { ConversationViewer } from "./viewer.ts";
