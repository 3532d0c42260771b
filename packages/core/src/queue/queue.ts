/**
 * The queue for slots: who is next among those whose provider and model have room. Three levels of heaps (providers,
 * their models, their claims), so that a full provider costs the others nothing and no operation but `refreshAll`
 * touches more than O(log n) members.
 */
import { Heap } from "./heap.ts";

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
	readonly queue: Heap<Claim>;
	running: number;
}

export interface ProviderShare {
	readonly name: string;
	readonly models: Map<string, ModelShare>;
	/** Models that have room and queued claims. */
	readonly ready: Heap<ModelShare>;
	running: number;
	queued: number;
}

/** Whether one more may start, apart from the global limit. */
export interface Room {
	ofModel: (model: ModelShare) => boolean;
	ofProvider: (provider: ProviderShare) => boolean;
	/** Called before each check of a provider, so that a turn can be booked for it. */
	beforeProvider: (provider: ProviderShare) => void;
}

export class WaitingLine {
	readonly #room: Room;
	readonly #providers = new Map<string, ProviderShare>();
	/** Providers that have room and a ready model. */
	readonly #ready = new Heap<ProviderShare>((one, other) => isBefore(firstOf(one), firstOf(other)));
	readonly #background = new Heap<Claim>(isBefore);
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
			provider = newProvider(providerName);
			this.#providers.set(providerName, provider);
		}
		let model = provider.models.get(modelName);
		if (!model) {
			model = { name: modelName, provider, queue: new Heap<Claim>(isBefore), running: 0 };
			provider.models.set(modelName, model);
		}
		return model;
	}

	/** The next claim that has room. */
	first(): Claim | undefined {
		return firstOf(this.#ready.first());
	}

	add(claim: Claim): void {
		claim.model.queue.put(claim);
		claim.model.provider.queued++;
		this.#size++;
		if (claim.lane >= LANE.backgroundChild) this.#background.put(claim);
		this.refresh(claim.model);
	}

	remove(claim: Claim): void {
		this.#background.remove(claim);
		claim.model.queue.remove(claim);
		claim.model.provider.queued--;
		this.#size--;
		this.refresh(claim.model);
	}

	hasBackground(): boolean {
		return this.#background.size > 0;
	}

	/** Moves the first background claim to the front of its model's queue, whether or not it has room now. */
	moveUpBackground(): void {
		const claim = this.#background.first();
		if (!claim) return;
		this.#background.remove(claim);
		claim.lane = LANE.movedUp;
		claim.model.queue.put(claim);
		this.refresh(claim.model);
	}

	/** Call after anything that changes the room of the model or its provider. */
	refresh(model: ModelShare): void {
		this.#refreshModel(model);
		this.refreshProvider(model.provider);
	}

	refreshProvider(provider: ProviderShare): void {
		this.#room.beforeProvider(provider);
		if (provider.ready.size > 0 && this.#room.ofProvider(provider)) this.#ready.put(provider);
		else this.#ready.remove(provider);
	}

	refreshAll(): void {
		for (const provider of this.#providers.values()) {
			for (const model of provider.models.values()) this.#refreshModel(model);
			this.refreshProvider(provider);
		}
	}

	#refreshModel(model: ModelShare): void {
		if (model.queue.size > 0 && this.#room.ofModel(model)) model.provider.ready.put(model);
		else model.provider.ready.remove(model);
	}
}

function newProvider(name: string): ProviderShare {
	return {
		name,
		models: new Map(),
		ready: new Heap<ModelShare>((one, other) => isBefore(one.queue.first(), other.queue.first())),
		running: 0,
		queued: 0,
	};
}

function firstOf(provider: ProviderShare | undefined): Claim | undefined {
	return provider?.ready.first()?.queue.first();
}

function isBefore(one: Claim | undefined, other: Claim | undefined): boolean {
	if (!one || !other) return one !== undefined;
	return one.lane === other.lane ? one.seq < other.seq : one.lane < other.lane;
}
