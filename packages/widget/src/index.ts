export { buildTree, type Tree, type TreeNode } from "./tree.ts";
export type { AgentView, ViewStatus } from "./view.ts";
