/**
 * Who launched whom: views linked into a tree with a stable order. Pure.
 * A change costs its depth; the rest of the tree is shared.
 */
import { buildNodes, linkParents, newPosition, type Position, parentOf } from "./link.ts";
import { makeNode, type TreeNode } from "./node.ts";
import { Siblings } from "./siblings.ts";
import { type Counts, plus } from "./summary.ts";
import type { AgentView } from "./view.ts";

export interface Tree {
	/** Agents that a session launched. */
	readonly roots: Siblings;
	/** Agents whose parent is not among the views. */
	readonly orphans: Siblings;
	/** Of all agents on all levels. */
	readonly counts: Counts;
}

/** Mutable, unlike a tree: only the newest tree has one; for an older tree it is rebuilt. */
interface Index {
	/** In order of arrival. */
	readonly positions: Map<string, Position>;
	/** Unknown parents of orphans. If one arrives, it already has children. */
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
	const positions = new Map<string, Position>();
	for (const view of views) {
		const known = positions.get(view.id);
		if (known) known.view = view;
		else positions.set(view.id, newPosition(view, positions.size));
	}
	const order = linkParents(positions);
	const tops = order.filter(({ parent, isOrphan }) => isOrphan && !parent);
	const tree = treeOf(buildNodes(order));
	indexes.set(tree, {
		positions,
		awaited: new Set(tops.flatMap(({ view }) => parentOf(view) ?? [])),
		arrivals: positions.size,
	});
	return tree;
}

/**
 * The tree after agents changed, arrived or left. Unchanged branches are the same objects.
 * An agent that changes its parent, arrives after its children or leaves before them costs as much as
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

/** The path from the top to an agent; empty when it is unknown. */
export function pathTo(tree: Tree, id: string): TreeNode[] {
	const [current, { positions }] = withIndex(tree);
	const position = positions.get(id);
	const path: TreeNode[] = [];
	let siblings = position?.isOrphan ? current.orphans : current.roots;
	for (const { slot } of chainTo(position)) {
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

/** False when the tree has to be rebuilt. */
function set(tops: Tops, index: Index, view: AgentView): boolean {
	const parent = parentOf(view);
	const known = index.positions.get(view.id);
	if (known) {
		if (parentOf(known.view) !== parent) return false;
		known.view = view;
		write(tops, known, (before) => before && makeNode(view, known, before.children));
		return true;
	}
	if (index.awaited.has(view.id)) return false;
	const above = parent === undefined ? undefined : index.positions.get(parent);
	const position = newPosition(view, index.arrivals++);
	position.parent = above;
	position.isOrphan = above ? above.isOrphan : parent !== undefined;
	position.slot = above ? above.slots++ : position.isOrphan ? tops.orphans.slots : tops.roots.slots;
	if (parent !== undefined && !above) index.awaited.add(parent);
	index.positions.set(view.id, position);
	write(tops, position, () => makeNode(view, position, Siblings.none));
	return true;
}

/** False when the agent has children. */
function remove(tops: Tops, index: Index, id: string): boolean {
	const position = index.positions.get(id);
	if (!position) return true;
	let isLeaf = true;
	write(tops, position, (before) => {
		isLeaf = before?.children.size === 0;
		return isLeaf ? undefined : before;
	});
	if (isLeaf) index.positions.delete(id);
	return isLeaf;
}

/** Replaces or removes the node at that position, and rebuilds its ancestors. */
function write(tops: Tops, position: Position, change: (before: TreeNode | undefined) => TreeNode | undefined): void {
	const chain = chainTo(position);
	const top = position.isOrphan ? "orphans" : "roots";
	const levels: Siblings[] = [tops[top]];
	for (const { slot } of chain.slice(0, -1)) levels.push(levels.at(-1)?.at(slot)?.children ?? Siblings.none);
	let made = change(levels.at(-1)?.at(position.slot));
	for (const [level, { slot }] of [...chain.entries()].reverse()) {
		const changed = (levels[level] ?? Siblings.none).with(slot, made);
		const above = chain[level - 1];
		if (above) made = makeNode(above.view, above, changed);
		else tops[top] = changed;
	}
}

/** The positions from the top to this one. */
function chainTo(position: Position | undefined): Position[] {
	const chain: Position[] = [];
	for (let at = position; at; at = at.parent) chain.push(at);
	return chain.reverse();
}

function rebuilt({ positions }: Index, changed: readonly AgentView[], gone: readonly string[]): Tree {
	const views = new Map<string, AgentView>();
	for (const [id, { view }] of positions) views.set(id, view);
	for (const view of changed) views.set(view.id, view);
	for (const id of gone) views.delete(id);
	return buildTree(views.values());
}
