/** The frame around one agent: its ancestors, its descendants, and the number of agents left out. */

import { type Counts, minus, plus, total } from "../tree/counts.ts";
import { countsBelow, mostUrgent, pathTo, type Tree, type TreeNode } from "../tree/tree.ts";
import { ACTIVE, QUEUED, SETTLED } from "../tree/view.ts";
import { selectRowsBelow, type VisibleNode, visibleAgent, visibleRoot } from "./select-rows.ts";

export interface Focus {
	readonly id: string;
	readonly top: VisibleNode;
	/** Agents without a row that no other line counts. */
	readonly beside: Counts;
	/** They include more than siblings. */
	readonly isCut: boolean;
}

/** Around that agent or, if it is unknown, an active one. Undefined in an empty tree. */
export function focusOn(tree: Tree, focusId: string | undefined, lines: number): Focus | undefined {
	const known = focusId === undefined ? [] : pathTo(tree, focusId);
	const path = known.length > 0 ? known : busiestPath(tree);
	const focus = path.at(-1);
	if (!focus) return undefined;

	const hasBelow = focus.children.length > 0;
	const above = path.slice(0, -1).filter(({ isPhase }) => !isPhase).length;
	const others = total(tree.counts) - total(focus.counts) - above;
	const fits = path.length + (others > 0 ? 1 : 0) + (hasBelow ? 1 : 0) <= lines;
	const kept = fits ? path : path.slice(-Math.max(1, lines - 1 - (hasBelow ? 1 : 0)));
	const counted = kept.slice(0, -1).reduce<Counts>((counts, node) => plus(counts, alone(node)), focus.counts);
	const beside = minus(tree.counts, counted);

	const visible = visibleAgent(focus);
	const left = lines - kept.length - (total(beside) > 0 ? 1 : 0);
	const hasRoomBelow = left > 0;
	if (hasRoomBelow) selectRowsBelow(visible, { lines: left, withDetails: false });
	else visible.hidden = 0; // counted with those beside it
	return {
		id: focus.view.id,
		top: chain(tree, kept, visible),
		beside: hasRoomBelow ? beside : plus(beside, countsBelow(focus)),
		isCut: !fits,
	};
}

/** Each ancestor shows only the next one, without a line for its other children. */
function chain(tree: Tree, path: readonly TreeNode[], focus: VisibleNode): VisibleNode {
	const above = path.slice(0, -1).map((node) => visibleAgent(node));
	const all = [visibleRoot(tree), ...above];
	for (const [at, visible] of all.entries()) {
		visible.hidden = 0;
		visible.children.push(all[at + 1] ?? focus);
	}
	return all[0] ?? focus;
}

function busiestPath({ roots, orphans }: Tree): TreeNode[] {
	for (const rank of [ACTIVE, QUEUED, SETTLED]) {
		const path: TreeNode[] = [];
		let next = mostUrgent(roots, rank, 1)[0] ?? mostUrgent(orphans, rank, 1)[0];
		for (; next; next = mostUrgent(next.children, rank, 1)[0]) path.push(next);
		if (path.length > 0) return path;
	}
	return [];
}

function alone(node: TreeNode): Counts {
	return minus(node.counts, countsBelow(node));
}
