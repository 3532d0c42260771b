/** The tree as a list: who comes after whom, and the branches that lead to each. Pure. */
import { buildTree, type TreeNode } from "./tree.ts";
import type { AgentView } from "./view.ts";

export interface InTree<View> {
	agent: View;
	/** The branches that lead to it, such as `│ └ `; empty at the top. */
	branch: string;
}

/** Deeper levels show only the branches next to the agent: the rest of the line is for its name. */
const MAX_BRANCHES = 5;

/**
 * Parents above children, in the order of the tree: active agents first.
 *
 * @example
 * ```ts
 * const agents = [{ id: "a", status: "running" }, { id: "b", status: "running", parentAgentId: "a" }] as const;
 * treeOrder(agents).map(({ agent, branch }) => branch + agent.id); // ["a", "└ b"]
 * ```
 */
export function treeOrder<View extends AgentView>(agents: readonly View[]): InTree<View>[] {
	const views = new Map(agents.map((agent) => [agent.id, agent]));
	// Without the phases of workflows: lists have rows for agents only.
	const { roots, orphans } = buildTree(agents.map((agent) => (agent.phases ? { ...agent, phases: undefined } : agent)));
	const found: InTree<View>[] = [];
	// Without recursion, because a tree can be arbitrarily deep.
	const rest: { node: TreeNode; above: readonly string[]; isLast: boolean }[] = [];
	/** The first one is taken from the end first. */
	const push = (nodes: readonly TreeNode[], above: readonly string[]) =>
		rest.push(...nodes.toReversed().map((node, at) => ({ node, above, isLast: at === 0 })));
	push([...roots, ...orphans], []);
	for (let next = rest.pop(); next; next = rest.pop()) {
		const { node, above, isLast } = next;
		const agent = views.get(node.view.id);
		const isTop = node.parent === undefined;
		const path = isTop ? [] : [...above, isLast ? "└ " : "├ "];
		if (agent) found.push({ agent, branch: branchOf(path) });
		push(node.children, isTop ? [] : [...above, isLast ? "  " : "│ "]);
	}
	return found;
}

function branchOf(path: readonly string[]): string {
	return path.length > MAX_BRANCHES ? `… ${path.slice(-MAX_BRANCHES + 1).join("")}` : path.join("");
}
