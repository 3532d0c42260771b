/** An agent in the tree, with its descendants. */
import type { Siblings } from "./siblings.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { type AgentView, type Rank, rankOf } from "./view.ts";

/** Immutable. The same object as long as nothing in its branch changes. */
export interface TreeNode {
	readonly view: AgentView;
	/** In display order. */
	readonly children: Siblings;
	/** Summary of its branch, itself included. */
	readonly sum: Summary;
	readonly rank: Rank;
	/** Its index among its siblings. */
	readonly slot: number;
	/** Its index among all agents, in order of arrival. */
	readonly arrival: number;
}

/** The fixed part of an agent's position. */
export interface SlotOrder {
	readonly slot: number;
	readonly arrival: number;
}

export function makeNode(view: AgentView, { slot, arrival }: SlotOrder, children: Siblings): TreeNode {
	const rank = rankOf(view);
	return { view, children, sum: summaryOf(view, rank, children.sum), rank, slot, arrival };
}
