/**
 * The children of one agent, as a persistent list: changing one of thousands copies a few short arrays
 * and shares the rest. Every part has a summary, so that the most urgent are found without a search.
 */
import type { TreeNode } from "./node.ts";
import { kindOf, NOTHING, type Summary, summaryOfAll } from "./summary.ts";
import type { Rank } from "./view.ts";

/** The slots of the lowest level hold agents, those above hold branches. */
interface Branch {
	readonly slots: readonly (Branch | TreeNode | undefined)[];
	readonly sum: Summary;
}

const BITS = 5;
const WIDTH = 1 << BITS;
const RANKS: readonly Rank[] = [0, 1, 2];

export class Siblings implements Iterable<TreeNode> {
	static readonly none = new Siblings(undefined, 0, 0);

	/** The next free slot. Lower ones have been used; some are empty again. */
	readonly slots: number;
	readonly #root: Branch | undefined;
	/** How far a slot number is shifted to index the root. */
	readonly #shift: number;

	private constructor(root: Branch | undefined, shift: number, slots: number) {
		this.#root = root;
		this.#shift = shift;
		this.slots = slots;
	}

	/** Each node's slot must equal its index. */
	static of(nodes: readonly TreeNode[]): Siblings {
		if (nodes.length === 0) return Siblings.none;
		let parts: Branch[] = chunks(nodes);
		let shift = 0;
		for (; parts.length > 1; shift += BITS) parts = chunks(parts);
		return new Siblings(parts[0], shift, nodes.length);
	}

	/** Of all siblings and their descendants. */
	get sum(): Summary {
		return this.#root?.sum ?? NOTHING;
	}

	/** How many there are. */
	get size(): number {
		return this.sum.size;
	}

	at(slot: number): TreeNode | undefined {
		if (slot >= WIDTH << this.#shift) return undefined;
		let item: Branch | TreeNode | undefined = this.#root;
		for (let shift = this.#shift; item !== undefined && isBranch(item); shift -= BITS) {
			item = item.slots[(slot >>> shift) % WIDTH];
		}
		return item;
	}

	/** A copy with another agent, or none, in that slot. */
	with(slot: number, node: TreeNode | undefined): Siblings {
		let root = this.#root;
		let shift = this.#shift;
		for (; slot >= WIDTH << shift; shift += BITS) root = root && { slots: [root], sum: root.sum };
		return new Siblings(put(root, shift, slot, node), shift, Math.max(this.slots, slot + 1));
	}

	/** At most `limit` agents whose branch has exactly that urgency, in display order. */
	mostUrgent(best: Rank, limit: number): TreeNode[] {
		const found: TreeNode[] = [];
		for (const own of RANKS) gather(this.#root, kindOf(own, best), limit, found);
		return found;
	}

	/** Display order: active, queued, settled, and within each by arrival. */
	[Symbol.iterator](): Iterator<TreeNode> {
		const found: TreeNode[] = [];
		for (const own of RANKS) {
			const anyBest = RANKS.reduce<number>((kinds, best) => kinds | kindOf(own, best), 0);
			gather(this.#root, anyBest, Number.POSITIVE_INFINITY, found);
		}
		return found.values();
	}
}

function isBranch(item: Branch | TreeNode): item is Branch {
	return "slots" in item;
}

function chunks(parts: readonly (Branch | TreeNode)[]): Branch[] {
	const made: Branch[] = [];
	for (let from = 0; from < parts.length; from += WIDTH) {
		const slots = parts.slice(from, from + WIDTH);
		made.push({ slots, sum: summaryOfAll(slots) });
	}
	return made;
}

/** Returns undefined for an empty branch. */
function put(branch: Branch | undefined, shift: number, slot: number, node: TreeNode | undefined): Branch | undefined {
	const at = (slot >>> shift) % WIDTH;
	const slots = branch ? branch.slots.slice() : [];
	while (slots.length < at) slots.push(undefined);
	const before = slots[at];
	slots[at] = shift === 0 ? node : put(before && isBranch(before) ? before : undefined, shift - BITS, slot, node);
	const sum = summaryOfAll(slots);
	return sum.size === 0 ? undefined : { slots, sum };
}

function gather(item: Branch | TreeNode | undefined, kinds: number, limit: number, found: TreeNode[]): void {
	if (item === undefined || (item.sum.kinds & kinds) === 0 || found.length >= limit) return;
	if (isBranch(item)) for (const part of item.slots) gather(part, kinds, limit, found);
	else found.push(item);
}
