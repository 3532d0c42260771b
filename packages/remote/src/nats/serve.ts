/**
 * The worker's side of a fleet. It pulls an order when it has a free slot, claims the run in the engine, acknowledges
 * the order, and starts it. From then on the run is its own: no queue decides about it, and its directory is the truth.
 * One beat for all runs shows that the worker is alive.
 */
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsMsg } from "@nats-io/jetstream";
import { type Clock, type Report, steadyClock } from "@pi-subagents/core";
import { bestEffort, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { createWhole, namesIn, readPlain } from "@pi-subagents/core/internal/files";
import { claimDir, releaseDir } from "@pi-subagents/runs";
import { Check } from "typebox/value";
import type { Worker } from "../far/worker.ts";
import { Refused } from "../link/link.ts";
import { SILENCE_MS } from "../stdio/protocol.ts";
import type { FleetAccess } from "./access.ts";
import { getBlob } from "./blobs.ts";
import { Engine, ORDER_MS } from "./engine.ts";
import { HeldRun } from "./held-run.ts";
import {
	type Beat,
	FLEET_BEAT_MS,
	FLEET_PROTOCOL,
	type Offer,
	type OrderMessage,
	orderSchema,
	poolOf,
} from "./messages.ts";

export interface ServeNatsOptions {
	worker: Worker;
	/** Where the worker keeps its files. One process at a time uses it. */
	home: string;
	access: FleetAccess;
	/** What people call it. */
	name: string;
	labels: readonly string[];
	/** How many runs it has at the same time. */
	slots: number;
	/** The models that its pi can use; asked again now and then. Empty if that is unknown. */
	models: () => Promise<readonly string[]>;
	version: string;
	bundled?: string | undefined;
	clock: Clock;
	report: Report;
}

/** How long an order may stay with a worker that died before it claimed it. */
const CLAIM_NS = 10 * 1e9;
const PULL_MS = 5_000;
/** An order is long only because of the texts in it. */
/** A repository with its whole history is the largest. */
const MAX_FETCHED_BYTES = 16 * 1024 * 1024 * 1024;
const MAX_ORDER_BYTES = 64 * 1024 * 1024;
/** A queue that no worker pulls from is removed. */
const UNUSED_NS = 60 * 60 * 1e9;
/** When this process is asked to end, its runs may say how they ended for this long. */
const FAREWELL_MS = 10_000;

export class FleetWorker {
	readonly #options: ServeNatsOptions;
	readonly #clock: Clock;
	readonly #engine: Engine;
	readonly #id: string;
	readonly #life = randomBytes(6).toString("hex");
	readonly #held = new Map<string, HeldRun>();
	/** When each process that launches agents was last heard from. */
	readonly #nears = new Map<string, number>();
	#offer: Offer;
	#upSince: number;
	#isClosing = false;
	#wake = (): void => undefined;

	/** Rejects if the engine cannot be reached, or another process is this worker. */
	static async start(options: ServeNatsOptions): Promise<FleetWorker> {
		const { home, access, name, clock, bundled, labels, models } = options;
		await mkdir(join(home, "orders"), { recursive: true, mode: 0o700 });
		const claim = await claimDir(home);
		if (!claim.isOurs)
			throw new Refused(
				`A worker called ${name} runs here already (process ${claim.owner.pid}). Give this one another --name.`,
			);
		const id = await idIn(home);
		const offer = { labels: [...labels], models: [...(await models())] };
		const onLink = (isUp: boolean) => worker.#changed(isUp);
		const engine = await Engine.connect({ access, client: `worker ${name}`, bundled, clock, onLink });
		const worker = new FleetWorker(options, engine, id, offer);
		await worker.#begin();
		return worker;
	}

	private constructor(options: ServeNatsOptions, engine: Engine, id: string, offer: Offer) {
		this.#options = options;
		this.#clock = steadyClock(options.clock);
		this.#engine = engine;
		this.#id = id;
		this.#offer = offer;
		this.#upSince = this.#clock.now();
	}

	get models(): readonly string[] {
		return this.#offer.models;
	}

	/** Stops what does not outlive its session, tells how it ended, and disconnects. */
	async close(): Promise<void> {
		if (this.#isClosing) return;
		this.#isClosing = true;
		this.#wake();
		this.#beat();
		const held = [...this.#held.values()].filter(({ isOver }) => !isOver);
		const farewell = new Promise<void>((resolve) => void this.#clock.after(FAREWELL_MS, resolve));
		await Promise.race([Promise.all(held.map((run) => run.release())), farewell]);
		for (const run of this.#held.values()) run.close();
		await this.#engine.close();
		await bestEffort("releasing the worker's files", this.#options.report, () => releaseDir(this.#options.home));
	}

	async #begin(): Promise<void> {
		const { names } = this.#engine;
		const orders = await this.#keptOrders();
		for (const order of orders) {
			const run = this.#hold(order.key, order.near);
			if (!this.#isOld(order) && (await run.isToStart())) void this.#start(run, order);
			else this.#drop(order.key);
		}
		const rest = (await this.#options.worker.keys()).filter((key) => !this.#held.has(key));
		for (const key of rest) await this.#hold(key, undefined).adopt();
		this.#engine.hear(names.alive("*"), ({ near }) => void this.#nears.set(String(near), this.#clock.now()));
		this.#engine.hear(names.who, () => this.#beat(true));
		this.#beat(true);
		this.#tick();
		void this.#pullAll();
	}

	#tick(): void {
		this.#clock.after(FLEET_BEAT_MS, () => {
			if (this.#isClosing) return;
			this.#beat();
			void this.#lookAround();
			this.#tick();
		});
	}

	get #free(): number {
		const busy = [...this.#held.values()].filter(({ isOver }) => !isOver).length;
		return this.#isClosing ? 0 : Math.max(0, this.#options.slots - busy);
	}

	#beat(isWhole = false): void {
		const { name, slots, version } = this.#options;
		const beat: Beat = {
			worker: this.#id,
			name,
			life: this.#life,
			protocol: FLEET_PROTOCOL,
			version,
			pool: poolOf(this.#offer),
			slots,
			free: this.#free,
			...(isWhole && { offer: this.#offer }),
		};
		if (this.#engine.isUp) this.#engine.publish(this.#engine.names.beat(this.#id), beat);
	}

	async #lookAround(): Promise<void> {
		const now = this.#clock.now();
		for (const run of this.#held.values()) {
			await run.look();
			const heardAt = Math.max(run.heardAt, this.#nears.get(run.near ?? "") ?? 0, this.#upSince);
			if (this.#engine.isUp && now - heardAt > SILENCE_MS) void run.abandon();
		}
		const models = await this.#options.models();
		if (models.join() === this.#offer.models.join()) return;
		this.#offer = { ...this.#offer, models: [...models] };
		this.#beat(true);
	}

	/** What was given up while the connection was away must not continue. */
	#changed(isUp: boolean): void {
		if (this.#isClosing) return;
		this.#options.report(
			isUp ? "The engine can be reached again." : "The engine cannot be reached. Trying again until it can.",
		);
		if (!isUp) return;
		this.#upSince = this.#clock.now();
		this.#beat(true);
		for (const run of this.#held.values()) void run.check();
		this.#wake();
	}

	async #pullAll(): Promise<void> {
		while (!this.#isClosing) {
			try {
				if (this.#free === 0) await this.#untilFree();
				else await this.#pull();
			} catch {
				await this.#engine.pause().catch(() => undefined); // the engine is away
			}
		}
	}

	#untilFree(): Promise<void> {
		return new Promise((resolve) => {
			const cancel = this.#clock.after(FLEET_BEAT_MS, resolve);
			this.#wake = () => {
				cancel();
				resolve();
			};
		});
	}

	/** At most one order at a time, and only with a free slot. */
	async #pull(): Promise<void> {
		const { names, nats, js } = this.#engine;
		const pool = poolOf(this.#offer);
		const manager = await this.#engine.manager();
		await manager.consumers
			.add(names.orders, {
				durable_name: pool,
				filter_subject: names.order(pool),
				ack_policy: nats.AckPolicy.Explicit,
				ack_wait: CLAIM_NS,
				inactive_threshold: UNUSED_NS,
			})
			.catch(async (error: unknown) => {
				await this.#engine.ensureStreams();
				throw error;
			});
		const consumer = await js.consumers.get(names.orders, pool);
		while (!this.#isClosing && this.#free > 0 && pool === poolOf(this.#offer)) {
			const message = await consumer.next({ expires: PULL_MS });
			if (message) await this.#take(message);
		}
	}

	async #take(message: JsMsg): Promise<void> {
		const { report } = this.#options;
		const body = this.#engine.opened(message.subject, message);
		if (!Check(orderSchema, body)) {
			report("An order was refused: it is not sealed with the fleet's key, or not understood.");
			return message.term();
		}
		const isOld = this.#isOld(body);
		if (isOld || body.protocol !== FLEET_PROTOCOL) {
			report(`The order of ${body.key} was refused: it is ${isOld ? "too old" : "of another version"}.`);
			return message.term();
		}
		if (this.#isClosing) return message.nak();
		if (this.#held.has(body.key)) return message.ack();
		await createWhole(this.#orderPath(body.key), JSON.stringify(body));
		const run = this.#hold(body.key, body.near);
		const isOurs = await run.claim();
		await message.ackAck().catch(() => undefined); // the claim counts: if the order comes again, it is known
		if (!isOurs) return this.#drop(body.key);
		this.#beat();
		void this.#start(run, body);
	}

	async #start(run: HeldRun, message: OrderMessage): Promise<void> {
		const { worker } = this.#options;
		const nearSubject = this.#engine.names.near(message.near);
		const limits = { maxBytes: MAX_FETCHED_BYTES, signal: run.signal };
		const fetch = async (id: string, path: string) =>
			void (await getBlob(this.#engine, { subject: nearSubject, id }, path, limits));
		try {
			await worker.accept(await this.#orderIn(message, fetch), fetch, run.signal);
			await run.accepted();
			await rm(this.#orderPath(message.key), { force: true });
		} catch (error) {
			const refusal = { why: messageOf(error), isFinal: error instanceof Refused };
			await run.refused(refusal).catch(() => undefined); // it was given up
			this.#drop(message.key);
		}
	}

	async #orderIn(
		{ order, blob, key }: OrderMessage,
		fetch: (id: string, path: string) => Promise<void>,
	): Promise<unknown> {
		const path = join(this.#options.home, `order-${key}.json`);
		if (blob === undefined) return keyed(order, key);
		try {
			await fetch(blob, path);
			return keyed(parseJson((await readPlain(path, MAX_ORDER_BYTES))?.toString("utf8") ?? ""), key);
		} finally {
			await rm(path, { force: true });
		}
	}

	/** An order stays here from before its claim until its agent has started: a process after this one can start it. */
	#orderPath(key: string): string {
		return join(this.#options.home, "orders", `${key}.json`);
	}

	/** Nobody waits for it, and the engine may have forgotten who had it. */
	#isOld({ at }: OrderMessage): boolean {
		return Math.abs(this.#options.clock.now() - at) > ORDER_MS;
	}

	async #keptOrders(): Promise<OrderMessage[]> {
		const dir = join(this.#options.home, "orders");
		const found = await Promise.all(
			(await namesIn(dir)).map((name) => readPlain(join(dir, name), MAX_ORDER_BYTES).catch(() => undefined)),
		);
		const orders = found.map((bytes) => parseJson(bytes?.toString("utf8") ?? ""));
		return orders.filter((value) => Check(orderSchema, value));
	}

	#hold(key: string, near: string | undefined): HeldRun {
		const { worker, report } = this.#options;
		const run = new HeldRun({
			key,
			near,
			worker,
			report,
			clock: this.#clock,
			engine: this.#engine,
			writer: { worker: this.#id, life: this.#life },
			onFree: () => {
				this.#wake();
				this.#beat();
			},
			onGone: () => this.#drop(key),
		});
		this.#held.set(key, run);
		return run;
	}

	#drop(key: string): void {
		this.#held.get(key)?.close();
		this.#held.delete(key);
		void rm(this.#orderPath(key), { force: true });
		this.#wake();
	}
}

/** The claim is for this key, so the order must be too. */
function keyed(order: unknown, key: string): unknown {
	return typeof order === "object" && order !== null && "key" in order && order.key === key ? order : undefined;
}

/** Stays with the files: a worker without them is another one. */
async function idIn(home: string): Promise<string> {
	const path = join(home, "worker-id");
	await createWhole(path, `w-${randomBytes(8).toString("hex")}`);
	const id = (await readPlain(path, 100))?.toString("utf8").trim() ?? "";
	if (!/^w-[0-9a-f]{16}$/.test(id)) throw new Error(`${path} is broken: delete it`);
	return id;
}
