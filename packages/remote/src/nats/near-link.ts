/**
 * The link to a fleet: workers that take orders from queues of a NATS engine. All runs of this process in that fleet
 * share one connection. Their workers are watched by their beats: one that is silent for the whole lease, while the
 * connection is there, has lost its runs.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Clock, type Report, steadyClock } from "@pi-subagents/core";
import { bestEffort, messageOf } from "@pi-subagents/core/internal/base";
import { createFile } from "@pi-subagents/core/internal/files";
import { unlessAborted } from "../link/limits.ts";
import {
	type Blobs,
	type ControlMessage,
	Disconnected,
	type FetchLimits,
	type Hear,
	type Link,
	type Marks,
	Refused,
} from "../link/link.ts";
import type { Order } from "../link/order.ts";
import { RETRY_MS, SharedConnection } from "../link/shared-connection.ts";
import type { FleetAccess } from "./access.ts";
import { getBlob, putBlob, removeBlob } from "./blobs.ts";
import { Engine } from "./engine.ts";
import { Following, type Near } from "./following.ts";
import { FLEET_BEAT_MS } from "./messages.ts";
import { Placing } from "./placing.ts";
import { Workers } from "./workers.ts";

export interface NatsLinkOptions {
	/** The machine's name, for people. */
	name: string;
	access: FleetAccess;
	/** Only workers that have all of them. */
	labels?: readonly string[];
	clock: Clock;
	report: Report;
	/** How long a worker may be silent. Default: 30 s. */
	leaseMs?: number;
}

const LEASE_MS = 30_000;
/** Without work, the connection is closed after this time: it would keep a process from ending. */
const IDLE_MS = 1_000;
/** How often a launch tries to connect. */
const LAUNCH_ATTEMPTS = 4;

interface Offered {
	make: () => Promise<string>;
	digest?: Promise<string>;
}

export class NatsLink implements Link {
	readonly blobs: Blobs;
	readonly #options: NatsLinkOptions;
	readonly #clock: Clock;
	readonly #id = `n-${randomBytes(8).toString("hex")}`;
	readonly #following = new Map<string, Following>();
	readonly #placing = new Set<Placing>();
	readonly #offers = new Map<string, Offered>();
	readonly #shared: SharedConnection<Near>;
	readonly #listeners = new Set<(isUp: boolean) => void>();
	#near: Near | undefined;
	#cancelBeat = (): void => undefined;

	constructor(options: NatsLinkOptions) {
		this.#options = options;
		this.#clock = steadyClock(options.clock);
		this.#shared = new SharedConnection({
			clock: this.#clock,
			report: options.report,
			idleMs: IDLE_MS,
			current: () => this.#near,
			connect: () => this.#connect(),
			close: () => this.#drop(),
			isFollowed: () => this.#following.size > 0,
		});
		this.blobs = {
			offer: (id, make) => this.#offer(id, make),
			fetch: (key, id, path, limits) => this.#fetch(key, id, path, limits),
		};
	}

	async submit(order: Order, signal: AbortSignal): Promise<void> {
		await this.#shared.whileNeeded(async () => {
			const near = await this.#connectedSoon(signal);
			const { name: machine, labels = [] } = this.#options;
			const isLong = Buffer.byteLength(JSON.stringify(order)) > near.engine.maxBytes / 2;
			const blob = isLong ? `order-${order.key}` : undefined;
			const withdraw = blob === undefined ? undefined : this.#offer(blob, () => textFile(JSON.stringify(order)));
			const at = this.#options.clock.now();
			const placing = new Placing(near, { order, labels, machine, blob, signal, at });
			this.#placing.add(placing);
			try {
				await placing.place();
			} finally {
				this.#placing.delete(placing);
				withdraw?.();
			}
		});
	}

	follow(key: string, marks: () => Promise<Marks>, hear: Hear): () => void {
		this.#following.get(key)?.close();
		const following = new Following({ key, marks, hear });
		this.#following.set(key, following);
		if (this.#near) following.begin(this.#near);
		else this.#shared.connectLater();
		return () => {
			following.close();
			if (this.#following.get(key) === following) this.#following.delete(key);
			this.#shared.restWhenIdle();
		};
	}

	async control(key: string, message: ControlMessage): Promise<void> {
		const [near, { name }] = [this.#near, this.#options];
		if (!near?.engine.isUp) throw new Disconnected(`${name} cannot be reached`);
		const { engine } = near;
		const sending = () => engine.request(engine.names.to(key), { does: "control", key, message });
		await this.#shared.whileNeeded(sending).catch(disconnected(`the agent's worker in ${name} does not answer`));
	}

	onBeat(listener: (isUp: boolean) => void): () => void {
		this.#listeners.add(listener);
		listener(this.#near?.engine.isUp === true);
		return () => this.#listeners.delete(listener);
	}

	/** Ends the connection. What the workers do continues as if this process had ended. */
	close(): void {
		for (const following of this.#following.values()) following.close();
		this.#following.clear();
		this.#shared.cancel();
		this.#drop();
	}

	#offer(id: string, make: () => Promise<string>): () => void {
		let made: Promise<string> | undefined;
		const offered: Offered = { make: () => (made ??= make()) };
		this.#offers.set(id, offered);
		return () => {
			if (this.#offers.get(id) === offered) this.#offers.delete(id);
			void this.#forget(offered);
			void made?.then((path) => rm(dirname(path), { recursive: true, force: true }), ignore);
		};
	}

	/** Nothing stays in the engine's store once it is no longer needed. */
	async #forget({ digest }: Offered): Promise<void> {
		const engine = this.#near?.engine;
		if (!digest || !engine) return;
		const [gone, ...needed] = await Promise.all([digest, ...[...this.#offers.values()].map((each) => each.digest)]);
		if (!needed.includes(gone)) await removeBlob(engine, gone).catch(ignore); // it expires anyway
	}

	async #fetch(key: string, id: string, path: string, limits: FetchLimits): Promise<void> {
		const { signal } = limits;
		await this.#shared.whileNeeded(async () => {
			const { engine } = await unlessAborted(this.#shared.connected(), signal);
			const blob = { subject: engine.names.to(key), id };
			const digest = await getBlob(engine, blob, path, limits).catch((error: unknown) => {
				signal.throwIfAborted();
				return disconnected()(error);
			});
			await bestEffort("clearing up in the engine", this.#options.report, () => removeBlob(engine, digest));
		});
	}

	async #connectedSoon(signal: AbortSignal): Promise<Near> {
		for (let attempt = 0; ; attempt++) {
			signal.throwIfAborted();
			try {
				return await this.#shared.connected();
			} catch (error) {
				if (error instanceof Refused || attempt === LAUNCH_ATTEMPTS) throw error;
			}
			await new Promise<void>((resolve) => void this.#clock.after(RETRY_MS[attempt] ?? 0, resolve));
		}
	}

	async #connect(): Promise<Near> {
		const { access, name, leaseMs = LEASE_MS, clock } = this.#options;
		const workers = new Workers({ now: this.#clock.now, leaseMs });
		const engine = await Engine.connect({
			access,
			client: `pi ${name}`,
			machine: name,
			clock,
			onLink: (isUp) => this.#changed(isUp),
		});
		const near: Near = { id: this.#id, engine, workers, clock: this.#clock, leaseMs };
		workers.setUp(true);
		const { names } = engine;
		engine.hear(names.beat("*"), (body) => {
			const heard = workers.hear(body);
			if (heard?.isUnknown) engine.publish(names.who, {});
			if (heard?.isNewLife) this.#look();
		});
		engine.serve(names.near(this.#id), ({ id }) => this.#give(String(id), engine));
		engine.publish(names.who, {});
		this.#near = near;
		this.#beat(near);
		for (const listener of this.#listeners) listener(true);
		for (const following of this.#following.values()) following.begin(near);
		this.#shared.restWhenIdle(); // the caller may be gone by now
		return near;
	}

	#changed(isUp: boolean): void {
		const near = this.#near;
		if (!near) return;
		near.workers.setUp(isUp);
		for (const listener of this.#listeners) listener(isUp);
		if (!isUp) return;
		near.engine.publish(near.engine.names.who, {});
		for (const following of this.#following.values()) following.begin(near);
		for (const placing of this.#placing) placing.resend();
	}

	/** Says that we live, and looks after the workers. */
	#beat(near: Near): void {
		const { engine } = near;
		this.#cancelBeat = this.#clock.after(FLEET_BEAT_MS, () => {
			if (this.#near !== near) return;
			if (engine.isUp) engine.publish(engine.names.alive(this.#id), { near: this.#id });
			this.#look();
			this.#beat(near);
		});
	}

	#look(): void {
		for (const following of this.#following.values()) void following.look();
	}

	async #give(id: string, engine: Engine): Promise<{ digest: string }> {
		const offered = this.#offers.get(id);
		if (!offered) throw new Refused(`"${id}" is not offered`); // whatever else is on this machine
		offered.digest = offered.make().then((path) => putBlob(engine, path));
		return { digest: await offered.digest };
	}

	#drop(): void {
		const near = this.#near;
		this.#near = undefined;
		this.#cancelBeat();
		if (!near) return;
		for (const listener of this.#listeners) listener(false);
		void near.engine.close().catch(ignore);
	}
}

async function textFile(text: string): Promise<string> {
	const path = join(await mkdtemp(join(tmpdir(), "pi-subagents-order-")), "order");
	await createFile(path, text);
	return path;
}

const ignore = (): void => undefined;

/** For a request that failed: unless it was refused, it may succeed once the other side is back. */
function disconnected(why?: string): (error: unknown) => never {
	return (error) => {
		throw error instanceof Refused ? error : new Disconnected(why ?? messageOf(error));
	};
}
