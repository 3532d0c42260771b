/**
 * Who launched whom: views linked into a tree with a stable order, and the counts of every branch. Pure, without
 * recursion because a tree can be arbitrarily deep, and quick enough to be built for every change.
 */
import { checkArguments, isElsewhere, type PhaseProgress } from "@pi-subagents/progress";
import { type Counts, minus, NOTHING, plus } from "./counts.ts";
import { ACTIVE, type AgentView, QUEUED, type Rank, rankOf, SETTLED } from "./view.ts";

/** An agent in the tree, or a phase of a workflow. */
export interface TreeNode {
	readonly view: AgentView;
	/** A phase: it counts no agent but those below it. */
	readonly isPhase: boolean;
	readonly rank: Rank;
	/** Absent at the top. */
	readonly parent: TreeNode | undefined;
	/** In display order: active, queued, settled, and within each by arrival. */
	readonly children: readonly TreeNode[];
	/** Its index among its siblings. */
	readonly index: number;
	/** Of its branch, itself included. */
	readonly counts: Counts;
	/** How many levels of agents its branch has, itself included. */
	readonly height: number;
}

export interface Tree {
	/** Agents that a session launched. */
	readonly roots: readonly TreeNode[];
	/** Agents whose parent is not among the views. */
	readonly orphans: readonly TreeNode[];
	/** Of all agents on all levels. */
	readonly counts: Counts;
	/** How many levels there are; more if a view has a greater `depth`, because its parent is unknown. */
	readonly depth: number;
	readonly byId: ReadonlyMap<string, TreeNode>;
}

/**
 * @example
 * ```ts
 * const { roots } = buildTree([{ id: "a", status: "running" }, { id: "b", status: "queued", parentAgentId: "a" }]);
 * roots.map(({ view, children }) => [view.id, children.length]); // [["a", 1]]
 * ```
 */
export function buildTree(views: Iterable<AgentView>): Tree {
	checkArguments({ views: [views, "iterable"] });
	const byId = new Map<string, Draft>();
	for (const view of views) {
		const known = byId.get(view.id);
		if (known) known.view = view;
		else byId.set(view.id, newDraft(view));
	}
	addPhases(byId);
	const { roots, orphans, order } = link(byId);
	let depth = 0;
	for (let at = order.length - 1; at >= 0; at--) depth = Math.max(depth, finish(order[at] as Draft));
	inDisplayOrder(roots);
	inDisplayOrder(orphans);
	return { roots, orphans, counts: plus(countsOf(roots), countsOf(orphans)), depth, byId };
}

/** The path from the top to an agent; empty when it is unknown. */
export function pathTo({ byId }: Tree, id: string): TreeNode[] {
	const path: TreeNode[] = [];
	for (let node = byId.get(id); node; node = node.parent) path.push(node);
	return path.reverse();
}

/** At most `limit` of these whose branch has exactly that urgency. */
export function mostUrgent(siblings: readonly TreeNode[], best: Rank, limit: number): TreeNode[] {
	const found: TreeNode[] = [];
	for (const node of siblings) {
		if (found.length >= limit) break;
		if (bestOf(node.counts) === best) found.push(node);
	}
	return found;
}

/** All its descendants, without itself. */
export function countsBelow({ counts, rank, view, isPhase }: TreeNode): Counts {
	return isPhase ? counts : minus(counts, { ...NOTHING, [stateOf(rank, view)]: 1 });
}

export function countsOf(siblings: readonly TreeNode[]): Counts {
	const sum = { ...NOTHING };
	for (const { counts } of siblings) add(sum, counts);
	return sum;
}

/** A node while the tree is built. */
interface Draft extends TreeNode {
	view: AgentView;
	/** The phase that it belongs to. */
	phaseId?: string;
	rank: Rank;
	parent: Draft | undefined;
	children: Draft[];
	index: number;
	counts: Sum;
	height: number;
}

type Sum = { -readonly [State in keyof Counts]: Counts[State] };

function add(sum: Sum, { running, waiting, queued, finished }: Counts): void {
	sum.running += running;
	sum.waiting += waiting;
	sum.queued += queued;
	sum.finished += finished;
}

function newDraft(view: AgentView, isPhase = false): Draft {
	const counts = { running: 0, waiting: 0, queued: 0, finished: 0 };
	return { view, isPhase, rank: SETTLED, parent: undefined, children: [], index: 0, counts, height: isPhase ? 0 : 1 };
}

/** A workflow's agents are put below their phases. A phase without an agent in the tree has no node. */
function addPhases(byId: Map<string, Draft>): void {
	for (const node of [...byId.values()]) {
		const { phase, parentAgentId = "" } = node.view;
		const workflow = byId.get(parentAgentId)?.view;
		const progress = workflow?.phases?.find(({ title }) => title === phase);
		if (!workflow || !progress) continue;
		node.phaseId = `${workflow.id}\n${progress.title}`;
		if (!byId.has(node.phaseId)) byId.set(node.phaseId, newDraft(phaseView(node.phaseId, workflow, progress), true));
	}
}

function phaseView(id: string, workflow: AgentView, { title, done, total }: PhaseProgress): AgentView {
	const isOver = rankOf(workflow) === SETTLED;
	const status = done >= total ? "completed" : isOver ? workflow.status : "running";
	return {
		id,
		status,
		parentAgentId: workflow.id,
		type: title,
		description: `${done}/${total}`,
		model: workflow.model,
	};
}

interface Linked {
	roots: Draft[];
	orphans: Draft[];
	/** Parents before children. */
	order: Draft[];
}

/** Sets parents and children, both in order of arrival. */
function link(byId: ReadonlyMap<string, Draft>): Linked {
	const roots: Draft[] = [];
	const orphans: Draft[] = [];
	for (const node of byId.values()) {
		const parentId = node.phaseId ?? (node.view.parentAgentId || undefined); // an empty one means no parent
		node.parent = parentId === undefined ? undefined : byId.get(parentId);
		if (node.parent) node.parent.children.push(node);
		else if (parentId === undefined) roots.push(node);
		else orphans.push(node);
	}
	const order = [...roots, ...orphans];
	visitBelow(order, 0);
	return order.length === byId.size
		? { roots, orphans, order }
		: cutCycles([...byId.values()], { roots, orphans, order });
}

/** Appends the descendants of all nodes from that index on. */
function visitBelow(order: Draft[], from: number): void {
	for (let at = from; at < order.length; at++) for (const child of order[at]?.children ?? []) order.push(child);
}

/** Nodes that cannot be reached are in a cycle of parents, or below one. Its earliest member becomes an orphan. */
function cutCycles(all: readonly Draft[], { roots, orphans, order }: Linked): Linked {
	const arrivals = new Map(all.map((node, arrival) => [node, arrival]));
	const byArrival = (one: Draft, other: Draft) => (arrivals.get(one) ?? 0) - (arrivals.get(other) ?? 0);
	const reached = new Set(order);
	for (const node of all) {
		if (reached.has(node)) continue;
		const [first] = cycleAbove(node).sort(byArrival);
		const parent = first?.parent;
		if (!first || !parent) continue;
		parent.children = parent.children.filter((child) => child !== first);
		first.parent = undefined;
		orphans.push(first);
		const from = order.push(first) - 1;
		visitBelow(order, from);
		for (const found of order.slice(from)) reached.add(found);
	}
	return { roots, orphans: orphans.sort(byArrival), order };
}

function cycleAbove(from: Draft): Draft[] {
	const path = new Set<Draft>();
	let node: Draft | undefined = from;
	for (; node && !path.has(node); node = node.parent) path.add(node);
	const all = [...path];
	return node ? all.slice(all.indexOf(node)) : [];
}

/** Called for children before their parents. Returns the depth that its view implies. */
function finish(node: Draft): number {
	const { view, counts, parent, children } = node;
	node.rank = rankOf(view);
	if (!node.isPhase) counts[stateOf(node.rank, view)]++;
	if (children.length > 1) inDisplayOrder(children);
	if (parent) {
		add(parent.counts, counts);
		parent.height = Math.max(parent.height, node.height + (parent.isPhase ? 0 : 1));
	}
	return typeof view.depth === "number" && view.depth > node.height ? view.depth : node.height;
}

/** An agent that waits for another agent asks nothing of the user, so it counts as running. */
function stateOf(rank: Rank, view: AgentView): keyof Counts {
	if (rank === ACTIVE) return view.status === "waiting" && !isElsewhere(view) ? "waiting" : "running";
	return rank === QUEUED ? "queued" : "finished";
}

function bestOf({ running, waiting, queued }: Counts): Rank {
	return running + waiting > 0 ? ACTIVE : queued > 0 ? QUEUED : SETTLED;
}

/** They are in order of arrival, and sorting is stable. */
function inDisplayOrder(siblings: Draft[]): void {
	const isSorted = siblings.every(({ rank }, at) => at === 0 || rank >= (siblings[at - 1] as Draft).rank);
	if (!isSorted) siblings.sort((a, b) => a.rank - b.rank);
	let index = 0;
	for (const node of siblings) node.index = index++;
}
