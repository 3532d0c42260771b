/**
 * Who launched whom: views linked into a tree, in an order that does not jump about. Pure.
 * A change costs as much as it is deep; the rest of the tree is shared.
 */
import { grow, newPlace, type Place, parentOf, seat } from "./link.ts";
import { makeNode, type TreeNode } from "./node.ts";
import { Siblings } from "./siblings.ts";
import { type Counts, plus } from "./summary.ts";
import type { AgentView } from "./view.ts";

export interface Tree {
	/** Agents that nobody among the views launched, because a session did. */
	readonly roots: Siblings;
	/** Agents whose parent is not among the views. */
	readonly orphans: Siblings;
	/** Of all agents, on every level. */
	readonly counts: Counts;
}

/** Written to, unlike a tree, and so handed on: only the newest tree has one; an older one is made again to get it. */
interface Index {
	/** In the order in which the agents came. */
	readonly places: Map<string, Place>;
	/** Parents that orphans name. One of these that comes at last has its children already. */
	readonly awaited: Set<string>;
	arrivals: number;
}

const indexes = new WeakMap<Tree, Index>();

/**
 * @example
 * ```ts
 * const { roots } = buildTree([{ id: "a", status: "running" }, { id: "b", status: "queued", parentAgentId: "a" }]);
 * [...roots].map(({ view, children }) => [view.id, children.size]); // [["a", 1]]
 * ```
 */
export function buildTree(views: Iterable<AgentView>): Tree {
	const places = new Map<string, Place>();
	for (const view of views) {
		const known = places.get(view.id);
		if (known) known.view = view;
		else places.set(view.id, newPlace(view, places.size));
	}
	const order = seat(places);
	const tops = order.filter(({ parent, isOrphan }) => isOrphan && !parent);
	const tree = treeOf(grow(order));
	indexes.set(tree, {
		places,
		awaited: new Set(tops.flatMap(({ view }) => parentOf(view) ?? [])),
		arrivals: places.size,
	});
	return tree;
}

/**
 * The tree after some agents changed or came, and some went. Branches in which nothing changed are the same objects.
 * An agent that names another parent than before, comes after its own children or goes before them costs as much as
 * a new tree.
 */
export function updateTree(tree: Tree, changed: Iterable<AgentView>, gone: Iterable<string> = []): Tree {
	const [current, index] = withIndex(tree);
	indexes.delete(current);
	const tops = { roots: current.roots, orphans: current.orphans };
	const views = [...changed];
	const ids = [...gone];
	for (const [done, view] of views.entries()) {
		if (!set(tops, index, view)) return rebuilt(index, views.slice(done), ids);
	}
	for (const [done, id] of ids.entries()) {
		if (!remove(tops, index, id)) return rebuilt(index, [], ids.slice(done));
	}
	const next = treeOf(tops);
	indexes.set(next, index);
	return next;
}

/** From the top down to the agent of that id; empty when it is not there. */
export function pathTo(tree: Tree, id: string): TreeNode[] {
	const [current, { places }] = withIndex(tree);
	const place = places.get(id);
	const path: TreeNode[] = [];
	let siblings = place?.isOrphan ? current.orphans : current.roots;
	for (const { slot } of chainTo(place)) {
		const node = siblings.at(slot);
		if (!node) return [];
		path.push(node);
		siblings = node.children;
	}
	return path;
}

interface Tops {
	roots: Siblings;
	orphans: Siblings;
}

function treeOf({ roots, orphans }: Readonly<Tops>): Tree {
	return { roots, orphans, counts: plus(roots.sum, orphans.sum) };
}

function withIndex(tree: Tree): [Tree, Index] {
	const index = indexes.get(tree);
	if (index) return [tree, index];
	const nodes: TreeNode[] = [...tree.roots, ...tree.orphans];
	for (let at = 0; at < nodes.length; at++) for (const child of nodes[at]?.children ?? []) nodes.push(child);
	const again = buildTree(nodes.sort((a, b) => a.arrival - b.arrival).map(({ view }) => view));
	return [again, indexes.get(again) as Index];
}

/** False when the agent cannot simply be put in its place. */
function set(tops: Tops, index: Index, view: AgentView): boolean {
	const parent = parentOf(view);
	const known = index.places.get(view.id);
	if (known) {
		if (parentOf(known.view) !== parent) return false;
		known.view = view;
		write(tops, known, (before) => before && makeNode(view, known, before.children));
		return true;
	}
	if (index.awaited.has(view.id)) return false;
	const above = parent === undefined ? undefined : index.places.get(parent);
	const place = newPlace(view, index.arrivals++);
	place.parent = above;
	place.isOrphan = above ? above.isOrphan : parent !== undefined;
	place.slot = above ? above.slots++ : place.isOrphan ? tops.orphans.slots : tops.roots.slots;
	if (parent !== undefined && !above) index.awaited.add(parent);
	index.places.set(view.id, place);
	write(tops, place, () => makeNode(view, place, Siblings.none));
	return true;
}

/** False when others sit under the agent. */
function remove(tops: Tops, index: Index, id: string): boolean {
	const place = index.places.get(id);
	if (!place) return true;
	let isLeaf = true;
	write(tops, place, (before) => {
		isLeaf = before?.children.size === 0;
		return isLeaf ? undefined : before;
	});
	if (isLeaf) index.places.delete(id);
	return isLeaf;
}

/** Puts another node, or none, in that place, and makes all above it anew. */
function write(tops: Tops, place: Place, change: (before: TreeNode | undefined) => TreeNode | undefined): void {
	const chain = chainTo(place);
	const top = place.isOrphan ? "orphans" : "roots";
	const levels: Siblings[] = [tops[top]];
	for (const { slot } of chain.slice(0, -1)) levels.push(levels.at(-1)?.at(slot)?.children ?? Siblings.none);
	let made = change(levels.at(-1)?.at(place.slot));
	for (const [level, { slot }] of [...chain.entries()].reverse()) {
		const changed = (levels[level] ?? Siblings.none).with(slot, made);
		const above = chain[level - 1];
		if (above) made = makeNode(above.view, above, changed);
		else tops[top] = changed;
	}
}

/** The places from the top down to this one. */
function chainTo(place: Place | undefined): Place[] {
	const chain: Place[] = [];
	for (let at = place; at; at = at.parent) chain.push(at);
	return chain.reverse();
}

function rebuilt({ places }: Index, changed: readonly AgentView[], gone: readonly string[]): Tree {
	const views = new Map<string, AgentView>();
	for (const [id, { view }] of places) views.set(id, view);
	for (const view of changed) views.set(view.id, view);
	for (const id of gone) views.delete(id);
	return buildTree(views.values());
}
