/** Builds a tree of views from scratch: parents, slots and orphans. Pure. */
import { makeNode, type TreeNode } from "./node.ts";
import { Siblings } from "./siblings.ts";
import type { AgentView } from "./view.ts";

/** An agent's position in the tree. */
export interface Position {
	view: AgentView;
	/** Its index among all agents, in order of arrival. */
	readonly arrival: number;
	/** Absent at the top. */
	parent: Position | undefined;
	/** It is below an agent whose parent is unknown. */
	isOrphan: boolean;
	/** Its index among its siblings. */
	slot: number;
	/** How many slots its children have used. */
	slots: number;
}

/** An empty parent id means no parent. */
export function parentOf({ parentAgentId }: AgentView): string | undefined {
	return parentAgentId || undefined;
}

export function newPosition(view: AgentView, arrival: number): Position {
	return { view, arrival, parent: undefined, isOrphan: false, slot: 0, slots: 0 };
}

/** Sets the parent and slot of every position, and returns them with parents before children. */
export function linkParents(positions: ReadonlyMap<string, Position>): Position[] {
	const childrenOf = new Map<string, Position[]>();
	const linked = new Set<Position>();
	const order: Position[] = [];
	const open = (top: Position) => {
		linked.add(top);
		for (let at = order.push(top) - 1; at < order.length; at++) {
			const position = order[at] as Position;
			for (const child of childrenOf.get(position.view.id) ?? []) {
				if (linked.has(child)) continue; // a cycle
				linked.add(child);
				child.parent = position;
				child.isOrphan = top.isOrphan;
				child.slot = position.slots++;
				order.push(child);
			}
		}
	};
	const tops: Position[] = [];
	for (const position of positions.values()) {
		const parent = parentOf(position.view);
		if (parent === undefined || !positions.has(parent)) {
			position.isOrphan = parent !== undefined;
			tops.push(position);
		} else {
			const siblings = childrenOf.get(parent);
			if (siblings) siblings.push(position);
			else childrenOf.set(parent, [position]);
		}
	}
	for (const top of tops) open(top);
	for (const position of positions.values()) {
		if (linked.has(position)) continue; // the others are in a cycle of parents, or below one
		const first = firstOfCycle(position, positions);
		first.isOrphan = true;
		tops.push(first);
		open(first);
	}
	const next = { roots: 0, orphans: 0 };
	for (const top of tops.sort((a, b) => a.arrival - b.arrival)) top.slot = top.isOrphan ? next.orphans++ : next.roots++;
	return order;
}

/** The earliest member of the cycle above this one. */
function firstOfCycle(from: Position, positions: ReadonlyMap<string, Position>): Position {
	const parent = ({ view }: Position) => positions.get(parentOf(view) ?? "") as Position;
	const seen = new Set<Position>();
	let member = from;
	for (; !seen.has(member); member = parent(member)) seen.add(member);
	let first = member;
	for (let next = parent(member); next !== member; next = parent(next)) {
		if (next.arrival < first.arrival) first = next;
	}
	return first;
}

/** Builds children before parents, without recursion: a tree can be arbitrarily deep. */
export function buildNodes(order: readonly Position[]): { roots: Siblings; orphans: Siblings } {
	const made = new Map<Position | "roots" | "orphans", TreeNode[]>();
	for (const position of order.toReversed()) {
		const node = makeNode(position.view, position, siblings(made.get(position)));
		const above = position.parent ?? (position.isOrphan ? "orphans" : "roots");
		const others = made.get(above);
		if (others) others.push(node);
		else made.set(above, [node]);
	}
	return { roots: siblings(made.get("roots")), orphans: siblings(made.get("orphans")) };
}

function siblings(nodes: TreeNode[] = []): Siblings {
	return Siblings.of(nodes.sort((a, b) => a.slot - b.slot));
}
