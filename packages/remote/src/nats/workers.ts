/** The workers of a fleet as a process that launches agents sees them: what they offer, and whether they are alive. */
import type { RunSpec } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import { Check } from "typebox/value";
import { plainWord } from "../link/words.ts";
import { type Beat, beatSchema, FLEET_PROTOCOL, type Offer } from "./messages.ts";

interface Seen extends Omit<Beat, "offer"> {
	at: number;
}

export interface Wanted {
	labels: readonly string[];
	spec: Pick<RunSpec, "model" | "fallbackModels">;
}

/** More than any fleet has: one that counts further makes them up. */
const MAX_WORKERS = 10_000;
const MAX_POOLS = 1_000;
/** Enough to see what is there. */
const MAX_NAMED = 12;

export class Workers {
	readonly #workers = new Map<string, Seen>();
	readonly #offers = new Map<string, Offer>();
	readonly #now: () => number;
	readonly #leaseMs: number;
	/** Since when the connection has been there without a break; undefined while it is not. */
	#upSince: number | undefined;

	constructor({ now, leaseMs }: { now: () => number; leaseMs: number }) {
		this.#now = now;
		this.#leaseMs = leaseMs;
	}

	setUp(isUp: boolean): void {
		this.#upSince = isUp ? this.#now() : undefined;
	}

	/** Returns the worker, if it is a beat; `isUnknown` if we should ask what it offers. */
	hear(body: unknown): { beat: Beat; isUnknown: boolean; isNewLife: boolean } | undefined {
		if (!Check(beatSchema, body)) return undefined;
		const { offer, ...seen } = body;
		const before = this.#workers.get(seen.worker);
		if (!before && this.#workers.size >= MAX_WORKERS) return undefined;
		if (offer && this.#offers.size >= MAX_POOLS && !this.#offers.has(seen.pool)) return undefined;
		this.#workers.set(seen.worker, { ...seen, at: this.#now() });
		if (offer) this.#offers.set(seen.pool, offer);
		const isNewLife = before !== undefined && before.life !== seen.life;
		return { beat: body, isUnknown: !this.#offers.has(seen.pool), isNewLife };
	}

	lifeOf(worker: string): string | undefined {
		return this.#workers.get(worker)?.life;
	}

	nameOf(worker: string): string {
		return sanitize(this.#workers.get(worker)?.name ?? worker);
	}

	/**
	 * Whether it has been silent for the whole lease while we could have heard it. No worker is late while the connection is
	 * away, and after it everybody has the whole lease again.
	 */
	isLate(worker: string | undefined): boolean {
		if (this.#upSince === undefined) return false;
		const heardAt = worker === undefined ? 0 : (this.#workers.get(worker)?.at ?? 0);
		return this.#now() - Math.max(heardAt, this.#upSince) > this.#leaseMs;
	}

	/** Queues that can take it, the one with the most room first. */
	poolsFor(wanted: Wanted): string[] {
		const room = new Map<string, number>();
		for (const { pool, free, slots } of this.#able(wanted)) {
			// A queue without a free slot is as good as it is wide.
			room.set(pool, (room.get(pool) ?? 0) + free + slots / 1_000);
		}
		return [...room].sort(([, a], [, b]) => b - a).map(([pool]) => pool);
	}

	hasRoom(pool: string): boolean {
		return this.#alive().some((worker) => worker.pool === pool && worker.free > 0);
	}

	/** Why no worker can take it. */
	complaint(fleet: string, { labels, spec }: Wanted): string {
		const alive = this.#alive();
		if (alive.length === 0)
			return `No worker of ${fleet} answers. Start one: pi-subagents-worker --nats <address> --token-file <file>, or: npx @pi-subagents/remote up`;
		const others = alive.filter(({ protocol }) => protocol !== FLEET_PROTOCOL);
		if (others.length === alive.length) {
			const versions = named(others.map(({ version }) => version));
			return `The workers of ${fleet} have pi-subagents ${versions === "" ? "of an unknown version" : versions}, which speaks another protocol. Update it there or here.`;
		}
		const labelled = alive.filter(({ pool }) => hasLabels(this.#offers.get(pool), labels));
		if (labelled.length === 0) {
			const known = named(alive.flatMap(({ pool }) => this.#offers.get(pool)?.labels ?? []));
			return `No worker of ${fleet} has the labels ${labels.join(", ")}. Their labels: ${known === "" ? "none" : known}.`;
		}
		const models = named(labelled.flatMap(({ pool }) => this.#offers.get(pool)?.models ?? []));
		return `Model ${sanitize(spec.model)} is not available on ${fleet}: no worker's pi knows it, or has credentials for its provider. Credentials do not travel; log in there (\`pi\`, then /login), or choose one that it has: ${models === "" ? "none" : models}.`;
	}

	#alive(): Seen[] {
		return [...this.#workers.values()].filter(({ at }) => this.#now() - at <= this.#leaseMs);
	}

	#able({ labels, spec: { model, fallbackModels = [] } }: Wanted): Seen[] {
		const isModel = ({ models }: Offer) =>
			models.length === 0 || [model, ...fallbackModels].some((each) => models.includes(each));
		return this.#alive().filter(({ pool, protocol }) => {
			const offer = this.#offers.get(pool);
			return protocol === FLEET_PROTOCOL && offer !== undefined && hasLabels(offer, labels) && isModel(offer);
		});
	}
}

function hasLabels(offer: Offer | undefined, labels: readonly string[]): boolean {
	return labels.every((label) => offer?.labels.includes(label));
}

/** Only those that are names: the workers say what they like. */
function named(words: readonly string[]): string {
	const all = [...new Set(words)].flatMap((word) => plainWord(word) ?? []);
	const more = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : "";
	return `${all.slice(0, MAX_NAMED).join(", ")}${more}`;
}
