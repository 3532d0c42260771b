/**
 * The agents worth a place on the screen: those who are at work or will be, those who settled a moment ago, and all
 * above them. Taking a change in costs the same however many agents there are.
 */
import { buildTree, pathTo, type Tree, updateTree } from "./tree.ts";
import { type AgentView, rankOf, SETTLED } from "./view.ts";

/** Where the agents come from. The store of `@pi-subagents/core` is one. */
export interface AgentSource {
	/** All agents, in the order in which they came. */
	snapshot(): { readonly records: readonly AgentView[] };
	/** Tells of every change, and of which agent; one that cannot tell which is asked for its snapshot. */
	subscribe(listener: (event?: unknown, changed?: AgentView) => void): () => void;
	/** One agent. Where this is absent it is looked for in the snapshot. */
	record?(id: string): AgentView | undefined;
}

/** How long a settled agent stays. */
const LINGER_MS = 5_000;

export class LiveTree {
	readonly #source: AgentSource;
	#tree: Tree = buildTree([]);
	/** Absent when anything may have changed. */
	#changed: Map<string, AgentView> | undefined;
	/** Those who settled, and until when they stay; the earliest first, give or take the time they stay. */
	readonly #leaving = new Map<string, number>();

	constructor(source: AgentSource) {
		this.#source = source;
	}

	/** That agent changed, or anybody did. */
	note(changed: AgentView | undefined): void {
		if (changed) this.#changed?.set(changed.id, changed);
		else this.#changed = undefined;
	}

	at(now: number): Tree {
		if (this.#changed) this.#tree = updateTree(this.#tree, this.#worthy(this.#changed.values(), now));
		else {
			this.#tree = buildTree([]);
			this.#leaving.clear();
			this.#tree = buildTree(this.#worthy(this.#source.snapshot().records, now));
		}
		this.#changed = new Map();
		for (const [id, until] of this.#leaving) {
			if (until > now) break;
			this.#leaving.delete(id);
			this.#drop(id);
		}
		return this.#tree;
	}

	/** When the next one leaves. */
	get nextLeave(): number | undefined {
		return this.#leaving.values().next().value;
	}

	/** Those of the changed who are shown, each after the ones above it. */
	#worthy(changed: Iterable<AgentView>, now: number): Iterable<AgentView> {
		const views = new Map<string, AgentView>();
		const find = this.#finder();
		for (const view of changed) {
			if (rankOf(view) === SETTLED && !this.#lingers(view, now)) continue;
			if (rankOf(view) !== SETTLED) this.#leaving.delete(view.id);
			const above: AgentView[] = [];
			for (let id = view.parentAgentId; id && !views.has(id) && !this.#find(id); ) {
				const parent = find(id);
				if (!parent || parent === view || above.includes(parent)) break; // unknown, or a circle
				above.unshift(parent);
				id = parent.parentAgentId;
			}
			for (const shown of [...above, view]) views.set(shown.id, shown);
		}
		return views.values();
	}

	/** Whoever was seen at work stays a while; who had settled before anybody looked does not come. */
	#lingers(view: AgentView, now: number): boolean {
		const before = this.#find(view.id);
		if (before && rankOf(before) === SETTLED) return true;
		const from = before ? now : Math.min(view.completedAt ?? Number.NEGATIVE_INFINITY, now);
		if (from + LINGER_MS <= now) return false;
		this.#leaving.set(view.id, from + LINGER_MS);
		return true;
	}

	/** Takes a settled agent out, and those above it who stayed only for its sake. */
	#drop(id: string): void {
		let remaining = 0;
		for (const node of pathTo(this.#tree, id).reverse()) {
			if (rankOf(node.view) !== SETTLED || node.children.size > remaining || this.#leaving.has(node.view.id)) return;
			this.#tree = updateTree(this.#tree, [], [node.view.id]);
			remaining = 1; // a node above is as it was before, with the one that is gone
		}
	}

	#find(id: string): AgentView | undefined {
		return pathTo(this.#tree, id).at(-1)?.view;
	}

	#finder(): (id: string) => AgentView | undefined {
		let all: Map<string, AgentView> | undefined;
		return (id) => {
			if (this.#source.record) return this.#source.record(id);
			all ??= new Map(this.#source.snapshot().records.map((view) => [view.id, view]));
			return all.get(id);
		};
	}
}
