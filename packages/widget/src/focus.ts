/** The frame around one agent: who is above it, what is below it, and how many are left out beside it. */
import { chooseBelow, type Shown, shownAgent, shownTop } from "./choose.ts";
import type { TreeNode } from "./node.ts";
import { type Counts, minus, plus, total } from "./summary.ts";
import { pathTo, type Tree } from "./tree.ts";
import { ACTIVE, QUEUED, SETTLED } from "./view.ts";

export interface Focus {
	readonly id: string;
	readonly top: Shown;
	/** Those who have no row and no line that stands for them. */
	readonly beside: Counts;
	/** Not only siblings are among them. */
	readonly isCut: boolean;
}

/** Around that agent, or around one that is at work where there is no such agent. Undefined in an empty tree. */
export function focusOn(tree: Tree, focusId: string | undefined, lines: number): Focus | undefined {
	const known = focusId === undefined ? [] : pathTo(tree, focusId);
	const path = known.length > 0 ? known : busiestPath(tree);
	const focus = path.at(-1);
	if (!focus) return undefined;

	const hasBelow = focus.children.size > 0;
	const others = total(tree.counts) - total(focus.sum) - (path.length - 1);
	const fits = path.length + (others > 0 ? 1 : 0) + (hasBelow ? 1 : 0) <= lines;
	const kept = fits ? path : path.slice(-Math.max(1, lines - 1 - (hasBelow ? 1 : 0)));
	const counted = kept.slice(0, -1).reduce<Counts>((counts, node) => plus(counts, alone(node)), focus.sum);
	const beside = minus(tree.counts, counted);

	const shown = shownAgent(focus);
	const left = lines - kept.length - (total(beside) > 0 ? 1 : 0);
	const hasRoomBelow = left > 0;
	if (hasRoomBelow) chooseBelow(shown, { lines: left, withDetails: false });
	else shown.hidden = 0; // told of with those beside it
	return {
		id: focus.view.id,
		top: chain(tree, kept, shown),
		beside: hasRoomBelow ? beside : plus(beside, focus.children.sum),
		isCut: !fits,
	};
}

/** Those above have the one below them, and no line for the others. */
function chain(tree: Tree, path: readonly TreeNode[], focus: Shown): Shown {
	const above = path.slice(0, -1).map((node) => shownAgent(node));
	const all = [shownTop(tree), ...above];
	for (const [at, shown] of all.entries()) {
		shown.hidden = 0;
		shown.kids.push(all[at + 1] ?? focus);
	}
	return all[0] ?? focus;
}

function busiestPath({ roots, orphans }: Tree): TreeNode[] {
	for (const rank of [ACTIVE, QUEUED, SETTLED]) {
		const path: TreeNode[] = [];
		let next = roots.mostUrgent(rank, 1)[0] ?? orphans.mostUrgent(rank, 1)[0];
		for (; next; next = next.children.mostUrgent(rank, 1)[0]) path.push(next);
		if (path.length > 0) return path;
	}
	return [];
}

function alone({ sum, children }: TreeNode): Counts {
	return minus(sum, children.sum);
}
