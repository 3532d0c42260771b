/**
 * The records of one root process: reduce, commit, then notify. The cost per event does not grow with the number of
 * agents, and an event is described once, however many listeners show it.
 */
import type { Usage } from "@pi-subagents/progress";
import type { AgentEvent } from "./event.ts";
import type { AgentRecord } from "./record.ts";
import { reduce, reduceWithLine } from "./reduce.ts";
import { addUsage, NO_USAGE, usageSince } from "./usage.ts";

/** All records at one moment, in the order in which they were queued. */
export interface Snapshot {
	seq: number;
	records: readonly AgentRecord[];
}

export interface Spent {
	usage: Usage;
	agents: number;
}

/** An event that changed a record. */
export interface StoreChange {
	event: AgentEvent;
	/** The record after it. */
	record: AgentRecord;
	/** Describes the event for people. Absent if there is nothing worth showing. */
	line?: string | undefined;
}

/** Called for every event that changed a record, after the commit. Must not throw. */
export type StoreListener = (change: StoreChange) => void;

/** Agents of an earlier process. */
export interface Archive {
	has: (agentId: string) => boolean;
	/** Their events, from the first run of each to the end of its last. */
	events: () => Iterable<AgentEvent>;
}

export class Store {
	#records = new Map<string, AgentRecord>();
	#archive: Archive | undefined;
	readonly #listeners = new Set<StoreListener>();
	/** Those that want one agent only: a hundred calls that wait must not each look at every event. */
	readonly #followers = new Map<string, Set<StoreListener>>();
	readonly #recency = new Recency();
	#snapshot: Snapshot | undefined;
	#seq = 0;
	#spent: Spent = { usage: NO_USAGE, agents: 0 };

	/** The number of the last event. */
	get seq(): number {
		return this.#seq;
	}

	/** Applies an event and returns the agent's record. */
	dispatch(event: AgentEvent): AgentRecord | undefined {
		this.#seq = Math.max(this.#seq, event.seq);
		const before = this.record(event.agentId);
		const { record: after, line } = reduceWithLine(before, event);
		if (after === before || after === undefined) return after;
		this.#records.set(after.id, after);
		this.#count(before, after);
		this.#recency.touch(after.id, event.seq);
		this.#snapshot = undefined;
		const change: StoreChange = { event, record: after, line };
		for (const listener of this.#listeners) listener(change);
		for (const follower of this.#followers.get(after.id) ?? NOBODY) follower(change);
		return after;
	}

	record(id: string): AgentRecord | undefined {
		if (!this.#records.has(id) && this.#archive?.has(id)) this.#loadArchive();
		return this.#records.get(id);
	}

	/** Built on the first read after a change; the same object until the next change. */
	snapshot(): Snapshot {
		this.#loadArchive();
		this.#snapshot ??= { seq: this.#seq, records: [...this.#records.values()] };
		return this.#snapshot;
	}

	/**
	 * All records except those of the archive that was not loaded yet. It includes all unsettled agents and costs
	 * nothing in a session with thousands of old ones.
	 */
	currentRecords(): AgentRecord[] {
		return [...this.#records.values()];
	}

	/**
	 * Adds agents whose runs are all over, before all others. Their records are built when one is first read;
	 * listeners are not called.
	 */
	setArchive(archive: Archive): void {
		this.#loadArchive();
		this.#archive = archive;
		this.#snapshot = undefined;
	}

	/** What all agents have used in all their runs, and how many there were. Workflows are scripts, not agents. */
	spent(): Spent {
		this.#loadArchive();
		return this.#spent;
	}

	/** The records changed after event number `seq`, each once, latest first. */
	changedSince(seq: number): AgentRecord[] {
		return this.#recency.since(seq).flatMap((id) => this.#records.get(id) ?? []);
	}

	/** Returns a function that unsubscribes. */
	subscribe(listener: StoreListener): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** The same for the events of one agent. Listeners to all of them are called first. */
	follow(agentId: string, listener: StoreListener): () => void {
		const followers = this.#followers.get(agentId) ?? new Set();
		this.#followers.set(agentId, followers.add(listener));
		return () => {
			if (followers.delete(listener) && followers.size === 0) this.#followers.delete(agentId);
		};
	}

	#loadArchive(): void {
		const archive = this.#archive;
		if (!archive) return;
		this.#archive = undefined;
		const records = new Map<string, AgentRecord>();
		for (const event of archive.events()) {
			const record = reduce(records.get(event.agentId), event);
			if (record) records.set(record.id, record);
		}
		for (const record of records.values()) if (!this.#records.has(record.id)) this.#count(undefined, record);
		for (const record of this.#records.values()) records.set(record.id, record);
		this.#records = records;
	}

	#count(before: AgentRecord | undefined, after: AgentRecord): void {
		if (before?.usage === after.usage) return;
		const { usage, agents } = this.#spent;
		this.#spent = {
			usage: addUsage(usage, usageSince(before?.usage ?? NO_USAGE, after.usage)),
			agents: before || after.runner === "workflow" ? agents : agents + 1,
		};
	}
}

const NOBODY: readonly StoreListener[] = [];

/** Which items changed last; moving one to the front takes constant time. */

interface Node {
	readonly id: string;
	seq: number;
	earlier: Node | undefined;
	later: Node | undefined;
}

class Recency {
	readonly #nodes = new Map<string, Node>();
	#latest: Node | undefined;

	touch(id: string, seq: number): void {
		const node: Node = this.#nodes.get(id) ?? { id, seq, earlier: undefined, later: undefined };
		this.#nodes.set(id, node);
		node.seq = seq;
		if (node === this.#latest) return;
		if (node.earlier) node.earlier.later = node.later;
		if (node.later) node.later.earlier = node.earlier;
		node.earlier = this.#latest;
		node.later = undefined;
		if (this.#latest) this.#latest.later = node;
		this.#latest = node;
	}

	/** Those touched after `seq`, latest first. */
	since(seq: number): string[] {
		const ids: string[] = [];
		for (let node = this.#latest; node && node.seq > seq; node = node.earlier) ids.push(node.id);
		return ids;
	}
}
