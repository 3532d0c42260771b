/**
 * Sends an order to the workers and waits until one has started it. Workers that offer the same share a queue. If the
 * first queue has no room and another one has, the order goes there too: only one worker can claim it.
 */
import { randomBytes } from "node:crypto";
import { messageOf } from "@pi-subagents/core/internal/base";
import { Check } from "typebox/value";
import { Refused } from "../link/link.ts";
import type { Order } from "../link/order.ts";
import { saidBy, toldError } from "../link/words.ts";
import type { Near } from "./following.ts";
import { type ClaimBody, claimSchema, FLEET_PROTOCOL, type OrderMessage, refusalSchema } from "./messages.ts";
import { type Entry, endOf, readEntries, whyGivenUp, writeAfter } from "./run-log.ts";
import type { Wanted } from "./workers.ts";

export interface PlacingOptions {
	order: Order;
	labels: readonly string[];
	/** The machine's name, for people. */
	machine: string;
	/** Set if the order is too long for a message. */
	blob?: string | undefined;
	/** The time of day. */
	at: number;
	signal: AbortSignal;
}

const TICK_MS = 250;
/** How long workers may take to say what they offer. */
const ANSWER_MS = 3_000;
/** How long a worker may take to fetch what it lacks of the repository, and to start the agent. */
const START_MS = 30 * 60_000;
/** A worker that was started again takes up what it had claimed within this time, or never. */
const RESUME_MS = 5_000;

export class Placing {
	readonly #near: Near;
	readonly #options: PlacingOptions;
	readonly #done = Promise.withResolvers<void>();
	readonly #pools = new Set<string>();
	/** Since when no worker can take it. */
	#noneSince: number | undefined;
	#claim: ClaimBody | undefined;
	#claimedAt = 0;
	#restartedAt: number | undefined;
	#isOver = false;
	#isTicking = false;
	#stop = (): void => undefined;
	/** Which reading counts: the connection may come back while another one begins. */
	#reading = 0;

	constructor(near: Near, options: PlacingOptions) {
		this.#near = near;
		this.#options = options;
		this.#done.promise.catch(() => undefined);
	}

	/** Resolves when a worker has started it. */
	async place(): Promise<void> {
		const { signal } = this.#options;
		const stop = () => void this.#withdraw();
		signal.addEventListener("abort", stop, { once: true });
		if (signal.aborted) stop();
		void this.#read();
		this.#schedule();
		try {
			await this.#done.promise;
		} finally {
			this.#isOver = true;
			signal.removeEventListener("abort", stop);
			this.#stop();
		}
	}

	/** After the connection came back: the engine may have lost the order. If it has not, only one is claimed. */
	resend(): void {
		this.#pools.clear();
		void this.#read();
	}

	#schedule(): void {
		this.#near.clock.after(TICK_MS, () => {
			if (this.#isOver) return;
			void this.#tick()
				.catch(() => undefined) // the engine is away: the next tick tries again
				.finally(() => this.#schedule());
		});
		if (this.#pools.size === 0) void this.#tick().catch(() => undefined);
	}

	async #tick(): Promise<void> {
		if (this.#isTicking || this.#isOver) return;
		this.#isTicking = true;
		try {
			if (this.#claim) await this.#watch(this.#claim);
			else await this.#offer();
		} finally {
			this.#isTicking = false;
		}
	}

	async #offer(): Promise<void> {
		const { workers, clock, engine } = this.#near;
		const { order, labels, machine } = this.#options;
		const wanted: Wanted = { labels, spec: order.spec };
		const [best] = workers.poolsFor(wanted);
		if (best === undefined && engine.isUp) {
			this.#noneSince ??= clock.now();
			if (clock.now() - this.#noneSince < ANSWER_MS) return;
			const isOurs = this.#pools.size === 0 || (await this.#write("withdrawn", 0, {}));
			if (isOurs) this.#fail(new Refused(workers.complaint(machine, wanted)));
			return;
		}
		this.#noneSince = undefined;
		if (best === undefined) return;
		const isFirst = this.#pools.size === 0;
		if (this.#pools.has(best) || !(isFirst || workers.hasRoom(best))) return;
		await this.#send(best);
		this.#pools.add(best);
	}

	async #send(pool: string): Promise<void> {
		const { engine, id } = this.#near;
		const { order, blob, at } = this.#options;
		const { key } = order;
		const common = { protocol: FLEET_PROTOCOL, at, key, near: id };
		const message: OrderMessage = blob === undefined ? { ...common, order } : { ...common, blob };
		const subject = engine.names.order(pool);
		const payload = JSON.stringify(message);
		const msgID = `${key}:${pool}:${randomBytes(4).toString("hex")}`;
		const publish = () => engine.js.publish(subject, payload, { msgID, headers: engine.sealed(subject, payload) });
		await publish().catch(async () => {
			await engine.ensureStreams();
			await publish();
		});
	}

	/** It has the order, and may die before it starts it. */
	async #watch({ worker, life }: ClaimBody): Promise<void> {
		const { workers, clock } = this.#near;
		if (workers.isLate(worker))
			return this.#giveUp(`worker ${workers.nameOf(worker)} fell silent before it started the agent`);
		if (clock.now() - this.#claimedAt > START_MS)
			return this.#giveUp(`worker ${workers.nameOf(worker)} has the order, and did not start the agent`);
		const current = workers.lifeOf(worker);
		if (current === undefined || current === life) return;
		this.#restartedAt ??= clock.now();
		if (clock.now() - this.#restartedAt < RESUME_MS) return;
		await this.#giveUp(`worker ${workers.nameOf(worker)} was started again before it started the agent`);
	}

	async #giveUp(why: string): Promise<void> {
		const { engine } = this.#near;
		const { seq, entry } = await endOf(engine, this.#options.order.key);
		if (entry !== undefined && entry.kind !== "claim") return; // it started it after all
		if (await this.#write("fence", seq, { why })) this.#fail(new Error(`${this.#options.machine}: ${why}`));
	}

	async #withdraw(): Promise<void> {
		const { signal } = this.#options;
		this.#fail(signal.reason);
		await this.#write("withdrawn", 0, {}).catch(() => undefined); // or a worker has it, and is asked to end it
	}

	async #write(kind: "fence" | "withdrawn", seq: number, body: object): Promise<boolean> {
		const { engine, id } = this.#near;
		const entry = { writer: id, kind, nonce: randomBytes(4).toString("hex"), body };
		return typeof (await writeAfter(engine, this.#options.order.key, seq, entry)) === "number";
	}

	async #read(): Promise<void> {
		const { engine, clock } = this.#near;
		const reading = ++this.#reading;
		const isCurrent = () => reading === this.#reading && !this.#isOver;
		const again = () => void clock.after(TICK_MS, () => void (isCurrent() && this.#read()));
		this.#stop();
		this.#stop = () => undefined;
		if (this.#isOver) return;
		try {
			const onEntry = (entry: Entry) => this.#hear(entry);
			const stop = await readEntries(engine, this.#options.order.key, { from: 1, onEntry, onDoubt: again });
			if (isCurrent()) this.#stop = stop;
			else stop();
		} catch {
			if (!engine.isClosed) again();
		}
	}

	#hear(entry: Entry): void {
		const { kind, body } = entry;
		const { machine } = this.#options;
		const givenUp = whyGivenUp(entry);
		if (kind === "claim" && Check(claimSchema, body)) this.#claimedBy(body);
		else if (kind === "refused" && Check(refusalSchema, body)) this.#fail(toldError(machine, body.why, body.isFinal));
		else if (givenUp !== undefined) this.#fail(new Error(saidBy(machine, givenUp)));
		else if (kind === "accepted" || kind === "piece") this.#done.resolve();
	}

	#claimedBy(claim: ClaimBody): void {
		if (!this.#claim) this.#claimedAt = this.#near.clock.now(); // the log may be read again
		this.#claim = claim;
	}

	#fail(error: unknown): void {
		this.#done.reject(error instanceof Error ? error : new Error(messageOf(error)));
	}
}
