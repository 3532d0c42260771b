/**
 * The agents to show: active and queued ones, those that settled a moment ago, and all their ancestors. The tree of
 * these is built again when one of them changed; agents that are not shown cost nothing.
 */
import { buildTree, type Tree } from "./tree.ts";
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
	/** Those in the tree, in order of arrival there. */
	readonly #shown = new Map<string, AgentView>();
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
		let isStale = true;
		if (this.#changed) isStale = this.#show(this.#changed.values(), now);
		else {
			this.#shown.clear();
			this.#expiries.clear();
			this.#show(this.#source.snapshot().records, now);
		}
		this.#changed = new Map();
		if (this.#expire(now) || isStale) this.#tree = buildTree(this.#shown.values());
		return this.#tree;
	}

	/** When the next settled agent leaves. */
	get nextExpiry(): number | undefined {
		return this.#expiries.values().next().value;
	}

	/** Adds the changed agents that are to be shown, each after its ancestors. Returns whether there are any. */
	#show(changed: Iterable<AgentView>, now: number): boolean {
		const added = new Map<string, AgentView>();
		const find = this.#finder();
		for (const view of changed) {
			const isSettled = rankOf(view) === SETTLED;
			if (isSettled && !this.#lingers(view, now)) continue;
			if (!isSettled) this.#expiries.delete(view.id);
			const above: AgentView[] = [];
			for (let id = view.parentAgentId; id && !added.has(id) && !this.#shown.has(id); ) {
				const parent = find(id);
				if (!parent || parent === view || above.includes(parent)) break; // unknown, or a cycle
				above.unshift(parent);
				id = parent.parentAgentId;
			}
			for (const each of [...above, view]) added.set(each.id, each);
		}
		for (const [id, view] of added) this.#shown.set(id, view);
		return added.size > 0;
	}

	/** Agents seen active stay for a while; those that settled earlier are not shown. */
	#lingers(view: AgentView, now: number): boolean {
		const before = this.#shown.get(view.id);
		if (before && rankOf(before) === SETTLED) return true;
		const from = before ? now : Math.min(view.completedAt ?? Number.NEGATIVE_INFINITY, now);
		if (from + LINGER_MS <= now) return false;
		this.#expiries.set(view.id, from + LINGER_MS);
		return true;
	}

	/** Removes settled agents whose time is up, and ancestors that stayed only for them. Returns whether any was due. */
	#expire(now: number): boolean {
		let isAny = false;
		for (const [id, until] of this.#expiries) {
			if (until > now) break;
			this.#expiries.delete(id);
			isAny = true;
		}
		if (!isAny) return false;
		const needed = new Set<string>();
		for (const view of this.#shown.values()) {
			if (rankOf(view) === SETTLED && !this.#expiries.has(view.id)) continue;
			for (let at: AgentView | undefined = view; at && !needed.has(at.id); at = this.#shown.get(at.parentAgentId ?? ""))
				needed.add(at.id);
		}
		for (const id of this.#shown.keys()) if (!needed.has(id)) this.#shown.delete(id);
		return true;
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
