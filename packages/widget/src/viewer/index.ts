export type { ConversationEntry, ConversationSource } from "./content/source.ts";
export { type PiViewerTheme, type ViewerTheme, viewerTheme } from "./content/theme.ts";
export type { ViewerKeys } from "./keys.ts";
export type { Relative, ViewerActions, ViewerOptions, ViewerQuestion } from "./options.ts";
export { ConversationViewer } from "./viewer.ts";
