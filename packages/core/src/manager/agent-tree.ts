/** Which agent launched which, indexed as agents are queued. */
import type { AgentRecord } from "../model/record.ts";
import type { Store } from "../model/store.ts";

export class AgentTree {
	readonly #store: Store;
	readonly #children = new Map<string, Set<string>>();

	constructor(store: Store) {
		this.#store = store;
		store.subscribe(({ event, record }) => {
			if (event.type === "agent_queued" && record.parentAgentId !== undefined)
				this.#adopt(record.parentAgentId, record.id);
		});
	}

	/** Nearest first. */
	ancestorsOf(id: string): AgentRecord[] {
		const found: AgentRecord[] = [];
		for (let record = this.#parentOf(id); record && !found.includes(record); record = this.#parentOf(record.id)) {
			found.push(record);
		}
		return found;
	}

	childrenOf(id: string): AgentRecord[] {
		return [...(this.#children.get(id) ?? [])].flatMap((each) => this.#store.record(each) ?? []);
	}

	/** Parents before their children. */
	descendantsOf(id: string): AgentRecord[] {
		const ids = new Set<string>([id]);
		for (const each of ids) for (const child of this.#children.get(each) ?? []) ids.add(child); // the set grows while it is iterated
		ids.delete(id);
		return [...ids].flatMap((each) => this.#store.record(each) ?? []);
	}

	#adopt(parentId: string, childId: string): void {
		const children = this.#children.get(parentId) ?? new Set();
		this.#children.set(parentId, children.add(childId));
	}

	#parentOf(id: string): AgentRecord | undefined {
		const parentId = this.#store.record(id)?.parentAgentId;
		return parentId === undefined ? undefined : this.#store.record(parentId);
	}
}
