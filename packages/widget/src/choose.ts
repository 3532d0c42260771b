/**
 * Which agents get one of the few lines there are. Whole branches give way, the least urgent first, and a line says how
 * many agents it stands for. Looks only at what it shows, and at the summaries of the rest.
 */
import type { TreeNode } from "./node.ts";
import type { Siblings } from "./siblings.ts";
import { type Counts, total } from "./summary.ts";
import type { Tree } from "./tree.ts";
import { ACTIVE, QUEUED, type Rank, SETTLED } from "./view.ts";

/** Something that has a line, and what is shown below it. */
export interface Shown {
	/** Absent for the top, which has no line of its own, and for the heading of the orphans. */
	readonly node?: TreeNode;
	/** Those below it that could be shown. */
	readonly below: Siblings;
	/** All that is below it. */
	readonly counts: Counts;
	/** Those below it that are, in the order of display. */
	readonly kids: Shown[];
	/** How many agents below it are neither shown nor below one that is. They have a line together. */
	hidden: number;
	readonly hasDetail: boolean;
}

export interface Room {
	readonly lines: number;
	/** Whether agents at work get a second line. */
	readonly withDetails: boolean;
}

/** The best use of the lines, of which there is at least one. */
export function choose(tree: Tree, room: Room): Shown {
	const top = shownTop(tree);
	const chooser = new Chooser(top, room);
	for (const rank of BY_URGENCY) {
		chooser.fill(top, rank);
		chooser.fillOrphans(top, tree.orphans, rank);
		chooser.endRank();
	}
	inOrder(top);
	return top;
}

/** The same below one agent that has its line already. */
export function chooseBelow(shown: Shown, room: Room): void {
	const chooser = new Chooser(shown, room);
	for (const rank of BY_URGENCY) {
		chooser.fill(shown, rank);
		chooser.endRank();
	}
	inOrder(shown);
}

export function shownTop({ roots, counts }: Tree): Shown {
	return { below: roots, counts, kids: [], hidden: total(counts), hasDetail: false };
}

export function shownAgent(node: TreeNode, hasDetail = false): Shown {
	const counts = node.children.sum;
	return { node, below: node.children, counts, kids: [], hidden: total(counts), hasDetail };
}

const BY_URGENCY: readonly Rank[] = [ACTIVE, QUEUED, SETTLED];

class Chooser {
	/** Lines that nobody has yet. */
	#left: number;
	readonly #withDetails: boolean;
	/** Something did not fit. */
	#isShort = false;

	constructor(top: Shown, { lines, withDetails }: Room) {
		this.#left = lines - (top.hidden > 0 ? 1 : 0);
		this.#withDetails = withDetails;
	}

	/** Shows what fits of one rank: siblings side by side if there is room for all, else one branch after the other. */
	fill(shown: Shown, rank: Rank): void {
		if (countOf(shown.counts, rank) === 0) return;
		for (const kid of shown.kids) this.fill(kid, rank);
		if (shown.hidden === 0) return;
		// One more than fits, even if the line for the hidden ones becomes free, tells that not all do.
		const nodes = shown.below.mostUrgent(rank, this.#left + 2);
		const doAllFit = this.#fits(shown, nodes);
		const fresh: Shown[] = [];
		for (const node of nodes) {
			const kid = this.#show(shown, node);
			if (!kid) break;
			if (doAllFit) fresh.push(kid);
			else this.fill(kid, rank);
		}
		for (const kid of fresh) this.fill(kid, rank);
	}

	/** The orphans have a heading, which is worth a line only with one of them. */
	fillOrphans(top: Shown, orphans: Siblings, rank: Rank): void {
		if (orphans.mostUrgent(rank, 1).length === 0 || top.kids.some(({ node }) => node === undefined)) return;
		const counts = orphans.sum;
		const heading: Shown = { below: orphans, counts, kids: [], hidden: total(counts), hasDetail: false };
		const lines = 2 - this.#freed(top, heading.hidden);
		if (!this.#take(lines)) return;
		top.hidden -= heading.hidden;
		top.kids.push(heading);
		this.fill(heading, rank);
	}

	/** The less urgent get only lines that the more urgent have no use for. */
	endRank(): void {
		if (this.#isShort) this.#left = 0;
	}

	#fits(shown: Shown, nodes: readonly TreeNode[]): boolean {
		let lines = 0;
		let agents = 0;
		for (const node of nodes) {
			lines += this.#linesOf(node);
			agents += total(node.sum);
		}
		return lines - this.#freed(shown, agents) <= this.#left;
	}

	#show(shown: Shown, node: TreeNode): Shown | undefined {
		const agents = total(node.sum);
		const lines = this.#linesOf(node) - this.#freed(shown, agents);
		const hasDetail = this.#hasDetail(node);
		const isTight = hasDetail && lines > this.#left;
		if (!this.#take(isTight ? lines - 1 : lines)) return undefined;
		const kid = shownAgent(node, hasDetail && !isTight);
		shown.hidden -= agents;
		shown.kids.push(kid);
		return kid;
	}

	/** With one for the agents below it, none of which is shown yet. */
	#linesOf(node: TreeNode): number {
		return 1 + (this.#hasDetail(node) ? 1 : 0) + (node.children.size > 0 ? 1 : 0);
	}

	#hasDetail(node: TreeNode): boolean {
		return this.#withDetails && node.rank === ACTIVE;
	}

	/** The line for the hidden ones is free when none is left. */
	#freed(shown: Shown, agents: number): number {
		return shown.hidden === agents ? 1 : 0;
	}

	#take(lines: number): boolean {
		const fits = lines <= this.#left;
		if (fits) this.#left -= lines;
		else this.#isShort = true;
		return fits;
	}
}

/** How many are of that rank themselves. */
function countOf({ running, waiting, queued, finished }: Counts, rank: Rank): number {
	return rank === ACTIVE ? running + waiting : rank === QUEUED ? queued : finished;
}

function inOrder(shown: Shown): void {
	shown.kids.sort((a, b) => (a.node?.rank ?? 3) - (b.node?.rank ?? 3) || (a.node?.slot ?? 0) - (b.node?.slot ?? 0));
	for (const kid of shown.kids) inOrder(kid);
}
