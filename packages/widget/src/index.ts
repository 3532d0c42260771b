/** The delegation tree of sub-agents, from anybody's data. */
export { type FitOptions, fit } from "./fit.ts";
export type { Icon, Joint, Layout, Mode, Row, Segment, Tone } from "./layout.ts";
export type { AgentSource } from "./live-tree.ts";
export type { TreeNode } from "./node.ts";
export { render } from "./render.ts";
export { renderTree } from "./render-tree.ts";
export type { Siblings } from "./siblings.ts";
export type { Counts, Summary } from "./summary.ts";
export { type PiTheme, piTheme, type Theme } from "./theme.ts";
export { buildTree, type Tree, updateTree } from "./tree.ts";
export type { AgentView, Rank, ViewStatus } from "./view.ts";
export {
	type ConversationEntry,
	type ConversationSource,
	ConversationViewer,
	type Relative,
	type ViewerActions,
	type ViewerKeys,
	type ViewerOptions,
	type ViewerQuestion,
	type ViewerTheme,
} from "./viewer/index.ts";
export { AgentWidget, type AgentWidgetOptions, type WidgetClock } from "./widget.ts";
