/**
 * Selects the agents that get a line. Whole branches are hidden, least urgent first, and a line counts them.
 */
import { type Counts, total } from "../tree/counts.ts";
import { countsBelow, countsOf, mostUrgent, type Tree, type TreeNode } from "../tree/tree.ts";
import { ACTIVE, QUEUED, type Rank, SETTLED } from "../tree/view.ts";

/** A node that has a line, with its visible children. */
export interface VisibleNode {
	/** Absent for the root, which has no line, and for the heading of the orphans. */
	readonly node?: TreeNode;
	/** Its children, visible or not. */
	readonly below: readonly TreeNode[];
	/** All its descendants. */
	readonly counts: Counts;
	/** Its visible children, in display order. */
	readonly children: VisibleNode[];
	/** Descendants that are neither visible nor below a visible child. They share one line. */
	hidden: number;
	readonly hasDetail: boolean;
}

export interface LineBudget {
	readonly lines: number;
	/** Whether active agents get a second line. */
	readonly withDetails: boolean;
}

/** Selects for at least one line. */
export function selectRows(tree: Tree, budget: LineBudget): VisibleNode {
	const top = visibleRoot(tree);
	const selector = new RowSelector(top, budget);
	for (const rank of BY_URGENCY) {
		selector.fill(top, rank);
		selector.fillOrphans(top, tree.orphans, rank);
		selector.endRank();
	}
	inOrder(top);
	return top;
}

/** The same below an agent that already has its line. */
export function selectRowsBelow(visible: VisibleNode, budget: LineBudget): void {
	const selector = new RowSelector(visible, budget);
	for (const rank of BY_URGENCY) {
		selector.fill(visible, rank);
		selector.endRank();
	}
	inOrder(visible);
}

export function visibleRoot({ roots, counts }: Tree): VisibleNode {
	return { below: roots, counts, children: [], hidden: total(counts), hasDetail: false };
}

export function visibleAgent(node: TreeNode, hasDetail = false): VisibleNode {
	const counts = countsBelow(node);
	return { node, below: node.children, counts, children: [], hidden: total(counts), hasDetail };
}

const BY_URGENCY: readonly Rank[] = [ACTIVE, QUEUED, SETTLED];

class RowSelector {
	/** Free lines. */
	#left: number;
	readonly #withDetails: boolean;
	/** Something of this rank did not fit. */
	#isShort = false;

	constructor(top: VisibleNode, { lines, withDetails }: LineBudget) {
		this.#left = lines - (top.hidden > 0 ? 1 : 0);
		this.#withDetails = withDetails;
	}

	/** Shows what fits of one rank: breadth first if all siblings fit, otherwise branch by branch. */
	fill(visible: VisibleNode, rank: Rank): void {
		if (countOfRank(visible.counts, rank) === 0) return;
		for (const child of visible.children) this.fill(child, rank);
		if (visible.hidden === 0) return;
		// Two more than fit: one for the line that may become free, one to detect overflow.
		const nodes = mostUrgent(visible.below, rank, this.#left + 2);
		const doAllFit = this.#fits(visible, nodes);
		const fresh: VisibleNode[] = [];
		for (const node of nodes) {
			const child = this.#show(visible, node);
			if (!child) break;
			if (doAllFit) fresh.push(child);
			else this.fill(child, rank);
		}
		for (const child of fresh) this.fill(child, rank);
	}

	/** The heading of the orphans is shown only together with one of them. */
	fillOrphans(top: VisibleNode, orphans: readonly TreeNode[], rank: Rank): void {
		if (mostUrgent(orphans, rank, 1).length === 0 || top.children.some(({ node }) => node === undefined)) return;
		const counts = countsOf(orphans);
		const heading: VisibleNode = { below: orphans, counts, children: [], hidden: total(counts), hasDetail: false };
		const lines = 2 - this.#freed(top, heading.hidden);
		if (!this.#take(lines)) return;
		top.hidden -= heading.hidden;
		top.children.push(heading);
		this.fill(heading, rank);
	}

	/** Less urgent agents get lines only if all more urgent ones fit. */
	endRank(): void {
		if (this.#isShort) this.#left = 0;
	}

	#fits(visible: VisibleNode, nodes: readonly TreeNode[]): boolean {
		let lines = 0;
		let agents = 0;
		for (const node of nodes) {
			lines += this.#linesOf(node);
			agents += total(node.counts);
		}
		return lines - this.#freed(visible, agents) <= this.#left;
	}

	#show(visible: VisibleNode, node: TreeNode): VisibleNode | undefined {
		const agents = total(node.counts);
		const lines = this.#linesOf(node) - this.#freed(visible, agents);
		const hasDetail = this.#hasDetail(node);
		const isTight = hasDetail && lines > this.#left;
		if (!this.#take(isTight ? lines - 1 : lines)) return undefined;
		const child = visibleAgent(node, hasDetail && !isTight);
		visible.hidden -= agents;
		visible.children.push(child);
		return child;
	}

	/** Includes one line for its hidden descendants. */
	#linesOf(node: TreeNode): number {
		return 1 + (this.#hasDetail(node) ? 1 : 0) + (node.children.length > 0 ? 1 : 0);
	}

	#hasDetail(node: TreeNode): boolean {
		return this.#withDetails && node.rank === ACTIVE && !node.isPhase;
	}

	/** The line for hidden agents becomes free when none is left. */
	#freed(visible: VisibleNode, agents: number): number {
		return visible.hidden === agents ? 1 : 0;
	}

	#take(lines: number): boolean {
		const fits = lines <= this.#left;
		if (fits) this.#left -= lines;
		else this.#isShort = true;
		return fits;
	}
}

/** How many agents have that rank. */
function countOfRank({ running, waiting, queued, finished }: Counts, rank: Rank): number {
	return rank === ACTIVE ? running + waiting : rank === QUEUED ? queued : finished;
}

function inOrder(visible: VisibleNode): void {
	const last = visible.below.length; // the heading of the orphans
	visible.children.sort((a, b) => (a.node?.index ?? last) - (b.node?.index ?? last));
	for (const child of visible.children) inOrder(child);
}
