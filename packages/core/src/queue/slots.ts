/**
 * Decides who may run now. Counts slots, queues requests and grants them in order; knows nothing of how agents run.
 *
 * Order: foreground before background, children before roots, then first come, first served; a request with room does
 * not wait behind one without. Every fourth foreground root that overtakes moves one background agent to the front.
 *
 * A waiting agent lends its slot, so every agent that holds one is working, and there is no deadlock: whenever one is
 * queued and not held back by a pause, another one works. An agent that stops waiting takes its slot back
 * immediately, even if it was given away: then more run than the limits allow, by at most one for each that took
 * back, and nothing is granted until enough have ended. If the parent's slot is taken back before the child's is
 * released, `maxConcurrent` holds even so.
 */

import { FairStart } from "./fairness.ts";
import type { HoldReason } from "./hold-reason.ts";
import { limitOf, type Occupancy, refusalOf, type SlotLimits } from "./limits.ts";
import { type Claim, LANE, type Lane, type ModelShare, type ProviderShare, WaitingLine } from "./queue.ts";
import { type ProviderPause, pauseReason, type RateGate } from "./rate-gate.ts";

export interface SlotsOptions {
	limits: SlotLimits;
	/** A queued agent may run now. Must not throw; may call back. */
	onGrant: (id: string) => void;
	gate: RateGate;
}

export interface SlotRequest {
	id: string;
	provider: string;
	/** `provider/id`. */
	model: string;
	/** The launching call waits for it. Below a background agent it counts as background. */
	isForeground: boolean;
	/** The agent that launched it, if one did. */
	parentId?: string;
}

/** `granted`: run now. `queued`: `onGrant` says when. A refused request is forgotten. */
export type SlotAnswer = "granted" | "queued" | { refused: string };

export interface SlotsSnapshot {
	running: number;
	queued: number;
	lent: number;
	paused: readonly ProviderPause[];
}

/** How many foreground roots may overtake before a background agent moves up. */
const OVERTAKES = 4;

export class Slots {
	readonly #onGrant: (id: string) => void;
	readonly #gate: RateGate;
	readonly #turns: FairStart;
	readonly #claims = new Map<string, Claim>();
	readonly #line = new WaitingLine({
		ofModel: (model) => model.running < limitOf(this.#limits.maxPerModel, model.name),
		ofProvider: (provider) => {
			this.#tend(provider); // it may be paused since the last look
			return this.#freeOn(provider) > 0 && this.#turns.isOpen(provider);
		},
	});
	#limits: SlotLimits;
	#running = 0;
	#lent = 0;
	#seq = 0;
	#overtakes = 0;
	#isGranting = false;

	constructor(options: SlotsOptions) {
		this.#limits = options.limits;
		this.#onGrant = options.onGrant;
		this.#gate = options.gate;
		this.#turns = new FairStart({
			gate: options.gate,
			onTurn: (provider) => {
				this.#tend(provider);
				this.#grantAll();
			},
		});
	}

	/** Requests a slot. Repeating it for an agent that has one or is queued changes nothing. */
	request(request: SlotRequest): SlotAnswer {
		const known = this.#claims.get(request.id);
		if (known) return known.state === "queued" ? "queued" : "granted";
		const model = this.#line.share(request.provider, request.model);
		const parent = request.parentId === undefined ? undefined : this.#claims.get(request.parentId);
		if (this.#limits.whenFull === "refuse") {
			const full = this.#fullFor(model, request.isForeground ? parent : undefined);
			if (full) return { refused: refusalOf(full) };
		}
		const isForeground = request.isForeground && (parent?.isForeground ?? true);
		const lane = laneOf({ isForeground, isChild: request.parentId !== undefined });
		const claim: Claim = { id: request.id, seq: ++this.#seq, model, isForeground, lane, state: "queued", lends: 0 };
		this.#claims.set(claim.id, claim);
		this.#line.add(claim);
		this.#tend(model.provider);
		this.#grantAll(claim);
		return claim.state === "running" ? "granted" : "queued";
	}

	/** The agent has settled, or is no longer wanted while queued. May be called repeatedly. */
	release(id: string): void {
		const claim = this.#claims.get(id);
		if (!claim) return;
		this.#claims.delete(id);
		const { state } = claim;
		claim.state = "released";
		if (state === "lent") this.#lent--;
		if (state === "queued") {
			this.#line.remove(claim);
			this.#tend(claim.model.provider);
		}
		if (state === "running") {
			this.#leave(claim);
			this.#grantAll();
		}
	}

	/**
	 * The agent waits for a child or an answer and needs no slot meanwhile. Returns a function that takes it back,
	 * which always succeeds immediately. An agent that waits for several things lends for each, and runs again when
	 * all are taken back.
	 */
	lend(id: string): () => void {
		const claim = this.#claims.get(id);
		if (!claim || claim.state === "queued") return () => {}; // nothing to lend
		if (++claim.lends === 1) {
			claim.state = "lent";
			this.#lent++;
			this.#leave(claim);
			this.#grantAll();
		}
		let isOver = false;
		return () => {
			if (isOver || claim.state === "released") return;
			isOver = true;
			if (--claim.lends > 0) return;
			this.#lent--;
			this.#enter(claim);
		};
	}

	/** Why a queued agent does not run yet; undefined if it is not queued. */
	reasonFor(id: string): HoldReason | undefined {
		const claim = this.#claims.get(id);
		if (claim?.state !== "queued") return undefined;
		const { model } = claim;
		const { provider } = model;
		if (!this.#turns.isOpen(provider)) return pauseReason(this.#gate, provider.name);
		const ofModel = limitOf(this.#limits.maxPerModel, model.name);
		if (model.running >= ofModel)
			return {
				by: "limit",
				setting: "maxPerModel",
				name: model.name,
				limit: ofModel,
				ahead: this.#line.ahead(claim, "model"),
			};
		if (this.#freeOn(provider) <= 0)
			return {
				by: "limit",
				setting: "maxPerProvider",
				name: provider.name,
				limit: limitOf(this.#limits.maxPerProvider, provider.name),
				ahead: this.#line.ahead(claim, "provider"),
			};
		const limit = limitOf(this.#limits.maxConcurrent, "");
		return { by: "limit", setting: "maxConcurrent", limit, ahead: this.#line.ahead(claim) };
	}

	/** Takes effect immediately. Running agents are not stopped and queued ones not refused. */
	setLimits(limits: SlotLimits): void {
		this.#limits = limits;
		this.#grantAll();
	}

	snapshot(): SlotsSnapshot {
		return { running: this.#running, queued: this.#line.size, lent: this.#lent, paused: this.#gate.pauses() };
	}

	/** Not reentered from `onGrant`: the running loop continues, so ten thousand that fail at once need no stack. */
	#grantAll(asking?: Claim): void {
		if (this.#isGranting) return;
		this.#isGranting = true;
		try {
			for (let claim = this.#next(); claim; claim = this.#next()) {
				this.#grant(claim);
				if (claim === asking) continue; // the caller gets it as the return value
				if (claim.lane === LANE.foreground) this.#countOvertake();
				this.#onGrant(claim.id);
			}
		} finally {
			this.#isGranting = false;
		}
	}

	#next(): Claim | undefined {
		return this.#free() > 0 ? this.#line.first() : undefined;
	}

	#grant(claim: Claim): void {
		this.#turns.use(claim.model.provider);
		this.#line.remove(claim);
		this.#enter(claim);
	}

	#countOvertake(): void {
		const background = this.#line.firstBackground();
		if (!background || ++this.#overtakes < OVERTAKES) return;
		this.#overtakes = 0;
		this.#line.moveUp(background);
	}

	#enter(claim: Claim): void {
		claim.state = "running";
		this.#running++;
		claim.model.running++;
		claim.model.provider.running++;
		this.#tend(claim.model.provider);
	}

	#leave({ model }: Claim): void {
		this.#running--;
		model.running--;
		model.provider.running--;
		this.#tend(model.provider);
	}

	/** Call after anything that changes who could start on this provider. */
	#tend(provider: ProviderShare): void {
		this.#turns.tend(provider, Math.min(provider.queued, this.#freeOn(provider), this.#free()));
	}

	#free(): number {
		return limitOf(this.#limits.maxConcurrent, "") - this.#running;
	}

	#freeOn(provider: ProviderShare): number {
		return limitOf(this.#limits.maxPerProvider, provider.name) - provider.running;
	}

	/**
	 * The first limit without room. Queued agents count, since they will run. A parent that is about to wait for this
	 * child does not: it lends its own slot, which may be the last one.
	 */
	#fullFor(model: ModelShare, waiting: Claim | undefined): Occupancy | undefined {
		const { provider } = model;
		const lender = waiting?.state === "running" ? waiting.model : undefined;
		const { maxConcurrent, maxPerProvider, maxPerModel } = this.#limits;
		const occupancies: Occupancy[] = [
			{ setting: "maxConcurrent", count: this.#running + this.#line.size, limit: limitOf(maxConcurrent, "") },
			{
				setting: "maxPerProvider",
				name: provider.name,
				count: provider.running + provider.queued,
				limit: limitOf(maxPerProvider, provider.name),
			},
			{
				setting: "maxPerModel",
				name: model.name,
				count: model.running + model.queue.size,
				limit: limitOf(maxPerModel, model.name),
			},
		];
		const lent = [lender !== undefined, lender?.provider === provider, lender === model];
		return occupancies.find(({ count, limit }, index) => count - (lent[index] ? 1 : 0) >= limit);
	}
}

function laneOf({ isForeground, isChild }: { isForeground: boolean; isChild: boolean }): Lane {
	if (isForeground) return isChild ? LANE.foregroundChild : LANE.foreground;
	return isChild ? LANE.backgroundChild : LANE.background;
}
