/** One agent in the tree, with all below it. */
import type { Siblings } from "./siblings.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { type AgentView, type Rank, rankOf } from "./view.ts";

/** Never written to. The same object as long as nothing in its branch changes. */
export interface TreeNode {
	readonly view: AgentView;
	/** In the order of display. */
	readonly children: Siblings;
	/** How many agents its branch holds, itself included. */
	readonly sum: Summary;
	readonly rank: Rank;
	/** Its place among its siblings. */
	readonly slot: number;
	/** Its place among all agents, in the order in which they came. */
	readonly arrival: number;
}

/** What stays the same about an agent in a tree. */
export interface Seat {
	readonly slot: number;
	readonly arrival: number;
}

export function makeNode(view: AgentView, { slot, arrival }: Seat, children: Siblings): TreeNode {
	const rank = rankOf(view);
	return { view, children, sum: summaryOf(view, rank, children.sum), rank, slot, arrival };
}
