/**
 * The agents to show: active and queued ones, those that settled a moment ago, and all their ancestors. The cost of a
 * change does not grow with the number of agents.
 */
import { buildTree, pathTo, type Tree, updateTree } from "./tree.ts";
import { type AgentView, rankOf, SETTLED } from "./view.ts";

/** A source of agents, such as the store of `@pi-subagents/core`. */
export interface AgentSource {
	/** All agents, in order of arrival. */
	snapshot(): { readonly records: readonly AgentView[] };
	/** Calls the listener on every change. Without the changed agent, the snapshot is read again. */
	subscribe(listener: (change?: { record: AgentView }) => void): () => void;
	/** One agent; by default it is looked up in the snapshot. */
	record?(id: string): AgentView | undefined;
}

/** How long a settled agent stays visible. */
const LINGER_MS = 5_000;

export class LiveTree {
	readonly #source: AgentSource;
	#tree: Tree = buildTree([]);
	/** Undefined when anything may have changed. */
	#changed: Map<string, AgentView> | undefined;
	/** When each settled agent leaves, roughly earliest first. */
	readonly #expiries = new Map<string, number>();

	constructor(source: AgentSource) {
		this.#source = source;
	}

	/** That agent changed; without one, any may have. */
	markChanged(changed: AgentView | undefined): void {
		if (changed) this.#changed?.set(changed.id, changed);
		else this.#changed = undefined;
	}

	at(now: number): Tree {
		if (this.#changed) this.#tree = updateTree(this.#tree, this.#visible(this.#changed.values(), now));
		else {
			this.#tree = buildTree([]);
			this.#expiries.clear();
			this.#tree = buildTree(this.#visible(this.#source.snapshot().records, now));
		}
		this.#changed = new Map();
		for (const [id, until] of this.#expiries) {
			if (until > now) break;
			this.#expiries.delete(id);
			this.#remove(id);
		}
		return this.#tree;
	}

	/** When the next settled agent leaves. */
	get nextExpiry(): number | undefined {
		return this.#expiries.values().next().value;
	}

	/** The changed agents that are shown, each after its ancestors. */
	#visible(changed: Iterable<AgentView>, now: number): Iterable<AgentView> {
		const views = new Map<string, AgentView>();
		const find = this.#finder();
		for (const view of changed) {
			if (rankOf(view) === SETTLED && !this.#lingers(view, now)) continue;
			if (rankOf(view) !== SETTLED) this.#expiries.delete(view.id);
			const above: AgentView[] = [];
			for (let id = view.parentAgentId; id && !views.has(id) && !this.#find(id); ) {
				const parent = find(id);
				if (!parent || parent === view || above.includes(parent)) break; // unknown, or a cycle
				above.unshift(parent);
				id = parent.parentAgentId;
			}
			for (const shown of [...above, view]) views.set(shown.id, shown);
		}
		return views.values();
	}

	/** Agents seen active stay for a while; those that settled earlier are not shown. */
	#lingers(view: AgentView, now: number): boolean {
		const before = this.#find(view.id);
		if (before && rankOf(before) === SETTLED) return true;
		const from = before ? now : Math.min(view.completedAt ?? Number.NEGATIVE_INFINITY, now);
		if (from + LINGER_MS <= now) return false;
		this.#expiries.set(view.id, from + LINGER_MS);
		return true;
	}

	/** Removes a settled agent, and ancestors that stayed only for it. */
	#remove(id: string): void {
		let remaining = 0;
		for (const node of pathTo(this.#tree, id).reverse()) {
			if (rankOf(node.view) !== SETTLED || node.children.size > remaining || this.#expiries.has(node.view.id)) return;
			this.#tree = updateTree(this.#tree, [], [node.view.id]);
			remaining = 1; // the parent node still counts the removed one
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
