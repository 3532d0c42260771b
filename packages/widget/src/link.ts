/** Makes a tree of views from scratch: who sits under whom, and where. Pure. */
import { makeNode, type TreeNode } from "./node.ts";
import { Siblings } from "./siblings.ts";
import type { AgentView } from "./view.ts";

/** Where an agent sits. */
export interface Place {
	view: AgentView;
	/** Its place among all agents, in the order in which they came. */
	readonly arrival: number;
	/** Absent at the top. */
	parent: Place | undefined;
	/** In the branch of an agent whose parent is unknown. */
	isOrphan: boolean;
	/** Its place among its siblings. */
	slot: number;
	/** How many places it has given to children. */
	slots: number;
}

/** A parent that is named by an empty string is none. */
export function parentOf({ parentAgentId }: AgentView): string | undefined {
	return parentAgentId || undefined;
}

export function newPlace(view: AgentView, arrival: number): Place {
	return { view, arrival, parent: undefined, isOrphan: false, slot: 0, slots: 0 };
}

/** Gives every place its parent and its slot, and returns them with parents before their children. */
export function seat(places: ReadonlyMap<string, Place>): Place[] {
	const childrenOf = new Map<string, Place[]>();
	const seated = new Set<Place>();
	const order: Place[] = [];
	const open = (top: Place) => {
		seated.add(top);
		for (let at = order.push(top) - 1; at < order.length; at++) {
			const place = order[at] as Place;
			for (const child of childrenOf.get(place.view.id) ?? []) {
				if (seated.has(child)) continue; // once around
				seated.add(child);
				child.parent = place;
				child.isOrphan = top.isOrphan;
				child.slot = place.slots++;
				order.push(child);
			}
		}
	};
	const tops: Place[] = [];
	for (const place of places.values()) {
		const parent = parentOf(place.view);
		if (parent === undefined || !places.has(parent)) {
			place.isOrphan = parent !== undefined;
			tops.push(place);
		} else {
			const siblings = childrenOf.get(parent);
			if (siblings) siblings.push(place);
			else childrenOf.set(parent, [place]);
		}
	}
	for (const top of tops) open(top);
	for (const place of places.values()) {
		if (seated.has(place)) continue; // all others are in a circle of parents, or below one
		const first = firstOfCircle(place, places);
		first.isOrphan = true;
		tops.push(first);
		open(first);
	}
	const next = { roots: 0, orphans: 0 };
	for (const top of tops.sort((a, b) => a.arrival - b.arrival)) top.slot = top.isOrphan ? next.orphans++ : next.roots++;
	return order;
}

/** Above this one, who came first of those who are their own ancestors. */
function firstOfCircle(from: Place, places: ReadonlyMap<string, Place>): Place {
	const parent = ({ view }: Place) => places.get(parentOf(view) ?? "") as Place;
	const seen = new Set<Place>();
	let member = from;
	for (; !seen.has(member); member = parent(member)) seen.add(member);
	let first = member;
	for (let next = parent(member); next !== member; next = parent(next)) {
		if (next.arrival < first.arrival) first = next;
	}
	return first;
}

/** Children are made before their parents, without recursion: a tree may be of any depth. */
export function grow(order: readonly Place[]): { roots: Siblings; orphans: Siblings } {
	const made = new Map<Place | "roots" | "orphans", TreeNode[]>();
	for (const place of order.toReversed()) {
		const node = makeNode(place.view, place, siblings(made.get(place)));
		const above = place.parent ?? (place.isOrphan ? "orphans" : "roots");
		const others = made.get(above);
		if (others) others.push(node);
		else made.set(above, [node]);
	}
	return { roots: siblings(made.get("roots")), orphans: siblings(made.get("orphans")) };
}

function siblings(nodes: TreeNode[] = []): Siblings {
	return Siblings.of(nodes.sort((a, b) => a.slot - b.slot));
}
