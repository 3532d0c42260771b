/**
 * Holds the records of one root process: reduce, commit, then notify.
 * Work per event does not grow with the number of agents.
 */
import type { AgentEvent } from "./event.ts";
import { Recency } from "./recency.ts";
import type { AgentRecord } from "./record.ts";
import { reduce } from "./reduce.ts";

/** All records at one moment, in the order in which they were queued. */
export interface Snapshot {
	seq: number;
	records: readonly AgentRecord[];
}

/** Hears of every event that changed a record, after the record was committed. Must not throw. */
export type StoreListener = (event: AgentEvent, record: AgentRecord) => void;

/** Agents of an earlier process. */
export interface Past {
	has: (agentId: string) => boolean;
	/** What happened to them, from the first run of each to the end of its last. */
	events: () => Iterable<AgentEvent>;
}

export class Store {
	#records = new Map<string, AgentRecord>();
	#past: Past | undefined;
	readonly #listeners = new Set<StoreListener>();
	readonly #recency = new Recency();
	#snapshot: Snapshot | undefined;
	#seq = 0;

	/** The number of the last event taken in. */
	get seq(): number {
		return this.#seq;
	}

	/** Takes an event in and returns the agent's record as it is now. */
	dispatch(event: AgentEvent): AgentRecord | undefined {
		this.#seq = Math.max(this.#seq, event.seq);
		const before = this.record(event.agentId);
		const after = reduce(before, event);
		if (after === before || after === undefined) return after;
		this.#records.set(after.id, after);
		this.#recency.touch(after.id, event.seq);
		this.#snapshot = undefined;
		for (const listener of this.#listeners) listener(event, after);
		return after;
	}

	record(id: string): AgentRecord | undefined {
		if (!this.#records.has(id) && this.#past?.has(id)) this.#makePast();
		return this.#records.get(id);
	}

	/** Built on the first read after a change, and the same object until the next one. */
	snapshot(): Snapshot {
		this.#makePast();
		this.#snapshot ??= { seq: this.#seq, records: [...this.#records.values()] };
		return this.#snapshot;
	}

	/**
	 * All but those of `recall` that nobody has asked for yet: who has not settled is among them, and looking at them
	 * costs nothing in a session that remembers thousands.
	 */
	atHand(): AgentRecord[] {
		return [...this.#records.values()];
	}

	/**
	 * Knows of agents whose runs are all over, before any others. Their records are made when somebody first asks for
	 * one of them, and no listener hears of it: nothing happens to them.
	 */
	recall(past: Past): void {
		this.#makePast();
		this.#past = past;
		this.#snapshot = undefined;
	}

	/** The records that changed after the event numbered `seq`, each once, as they are now, the latest first. */
	changedSince(seq: number): AgentRecord[] {
		return this.#recency.since(seq).flatMap((id) => this.#records.get(id) ?? []);
	}

	/** Returns the way to stop listening. */
	subscribe(listener: StoreListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
	#makePast(): void {
		const past = this.#past;
		if (!past) return;
		this.#past = undefined;
		const records = new Map<string, AgentRecord>();
		for (const event of past.events()) {
			const record = reduce(records.get(event.agentId), event);
			if (record) records.set(record.id, record);
		}
		for (const record of this.#records.values()) records.set(record.id, record);
		this.#records = records;
	}
}
