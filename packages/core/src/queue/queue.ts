/**
 * The queue for slots: who is next among those whose provider and model have room. Each model has its own sorted list
 * of claims, so that a full one costs the others nothing; who is next is a look at the first of each.
 */
import { SortedList } from "./sorted-list.ts";

/** In order of priority; within a lane, first come, first served. */
export const LANE = {
	/** Background agents that were overtaken often enough. */
	movedUp: 0,
	/** Finish a started tree before beginning the next, or all would be half done at once. */
	foregroundChild: 1,
	foreground: 2,
	backgroundChild: 3,
	background: 4,
} as const;

export type Lane = (typeof LANE)[keyof typeof LANE];

/** A request for a slot and its state. */
export interface Claim {
	readonly id: string;
	readonly seq: number;
	readonly model: ModelShare;
	/** It and all its ancestors are waited for. */
	readonly isForeground: boolean;
	lane: Lane;
	state: "queued" | "running" | "lent" | "released";
	/** For how many waits it lends its slot. */
	lends: number;
}

export interface ModelShare {
	readonly name: string;
	readonly provider: ProviderShare;
	readonly queue: SortedList<Claim>;
	running: number;
}

export interface ProviderShare {
	readonly name: string;
	readonly models: Map<string, ModelShare>;
	running: number;
	queued: number;
}

/** Whether one more may start, apart from the global limit. */
export interface Room {
	ofModel: (model: ModelShare) => boolean;
	ofProvider: (provider: ProviderShare) => boolean;
}

export class WaitingLine {
	readonly #room: Room;
	readonly #providers = new Map<string, ProviderShare>();
	#size = 0;

	constructor(room: Room) {
		this.#room = room;
	}

	get size(): number {
		return this.#size;
	}

	/** The counters of this model. */
	share(providerName: string, modelName: string): ModelShare {
		let provider = this.#providers.get(providerName);
		if (!provider) {
			provider = { name: providerName, models: new Map(), running: 0, queued: 0 };
			this.#providers.set(providerName, provider);
		}
		let model = provider.models.get(modelName);
		if (!model) {
			model = { name: modelName, provider, queue: new SortedList<Claim>(isBefore), running: 0 };
			provider.models.set(modelName, model);
		}
		return model;
	}

	/** The next claim that has room. */
	first(): Claim | undefined {
		let first: Claim | undefined;
		for (const provider of this.#providers.values()) {
			if (provider.queued === 0 || !this.#room.ofProvider(provider)) continue;
			for (const model of provider.models.values()) {
				const claim = model.queue.first();
				if (claim && isBefore(claim, first) && this.#room.ofModel(model)) first = claim;
			}
		}
		return first;
	}

	add(claim: Claim): void {
		claim.model.queue.add(claim);
		claim.model.provider.queued++;
		this.#size++;
	}

	remove(claim: Claim): void {
		claim.model.queue.remove(claim);
		claim.model.provider.queued--;
		this.#size--;
	}

	/** How many claims come before this one: of all, or of its provider or model only. */
	ahead(claim: Claim, of: "all" | "provider" | "model" = "all"): number {
		const providers = of === "all" ? this.#providers.values() : [claim.model.provider];
		let count = 0;
		for (const provider of providers)
			for (const model of of === "model" ? [claim.model] : provider.models.values())
				count += model.queue.countBefore(claim);
		return count;
	}

	/** The first background claim, whether or not it has room now. */
	firstBackground(): Claim | undefined {
		let first: Claim | undefined;
		for (const provider of this.#providers.values())
			for (const model of provider.models.values()) {
				const claim = model.queue.find(({ lane }) => lane >= LANE.backgroundChild);
				if (claim && isBefore(claim, first)) first = claim;
			}
		return first;
	}

	/** Moves a claim to the front of its model's queue. */
	moveUp(claim: Claim): void {
		claim.model.queue.remove(claim);
		claim.lane = LANE.movedUp;
		claim.model.queue.add(claim);
	}
}

function isBefore(one: Claim, other: Claim | undefined): boolean {
	if (!other) return true;
	return one.lane === other.lane ? one.seq < other.seq : one.lane < other.lane;
}
