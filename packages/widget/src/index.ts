/** The delegation tree of sub-agents, for any data source. */

export type { Status as ViewStatus } from "@pi-subagents/progress";
export { render, renderTree } from "./render/render.ts";
export { type PiTheme, piTheme, type Theme } from "./render/theme.ts";
export { AgentWidget, type AgentWidgetOptions, type WidgetClock } from "./render/widget.ts";
export { type FitOptions, fit } from "./rows/fit.ts";
export type { Icon, Layout, Mode, Row, Segment, Separator, Tone } from "./rows/layout.ts";
export type { Counts } from "./tree/counts.ts";
export type { AgentSource } from "./tree/live-tree.ts";
export { type InTree, treeOrder } from "./tree/order.ts";
export { buildTree, type Tree, type TreeNode } from "./tree/tree.ts";
export type { AgentView, Rank } from "./tree/view.ts";
export {
	type ConversationEntry,
	type ConversationSource,
	ConversationViewer,
	type PiViewerTheme,
	type Relative,
	type ViewerActions,
	type ViewerKeys,
	type ViewerOptions,
	type ViewerQuestion,
	type ViewerTheme,
	viewerTheme,
} from "./viewer/index.ts";
