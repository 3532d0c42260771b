/** Who launched whom: views linked into a tree, in an order that does not jump about. Pure. */
import type { AgentView, ViewStatus } from "./view.ts";

export interface TreeNode {
	view: AgentView;
	children: readonly TreeNode[];
}

export interface Tree {
	/** Agents that nobody among the views launched, because a session did. */
	roots: readonly TreeNode[];
	/** Agents whose parent is not among the views. */
	orphans: readonly TreeNode[];
}

/** Active before queued before settled; within each, as the views came. */
const RANK: Record<ViewStatus, number> = { running: 0, waiting: 0, queued: 1, completed: 2, failed: 2, aborted: 2 };

/**
 * @example
 * ```ts
 * const { roots } = buildTree([{ id: "a", status: "running" }, { id: "b", status: "queued", parentAgentId: "a" }]);
 * roots[0]?.children[0]?.view.id; // "b"
 * ```
 */
export function buildTree(views: readonly AgentView[]): Tree {
	const byId = new Map(views.map((view) => [view.id, view]));
	const unique = [...byId.values()];
	const childrenOf = Map.groupBy(unique, (view) => view.parentAgentId ?? "");
	const inTree = new Set<string>();
	const grow = (siblings: readonly AgentView[]): TreeNode[] =>
		[...siblings]
			.sort((a, b) => RANK[a.status] - RANK[b.status])
			.flatMap((view) => {
				if (inTree.has(view.id)) return []; // a circle of parents must not turn for ever
				inTree.add(view.id);
				return [{ view, children: grow(childrenOf.get(view.id) ?? []) }];
			});
	const roots = grow(unique.filter((view) => !view.parentAgentId));
	const orphans = grow(unique.filter((view) => view.parentAgentId && !byId.has(view.parentAgentId)));
	const circular = grow(unique.filter((view) => !inTree.has(view.id)));
	return { roots, orphans: [...orphans, ...circular] };
}
