/**
 * A connection to the engine of a fleet. Messages are sealed with the fleet's key, and those that arrive without a
 * valid seal are dropped, so the engine and its other users can read and lose messages but not forge or change them.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { Msg, MsgHdrs, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { Clock } from "@pi-subagents/core";
import { isObject, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { Refused } from "../link/link.ts";
import { toldError } from "../link/words.ts";
import { type FleetAccess, type OpenedAccess, openAccess } from "./access.ts";
import { loadNats, type NatsPackages } from "./load.ts";
import { type Names, namesOf } from "./names.ts";

export interface EngineOptions {
	access: FleetAccess;
	/** How the engine's own tools list this connection. */
	client: string;
	/** What the fleet is called here: errors with which a worker answers are quoted as its words. */
	machine?: string;
	/** A file with the NATS packages; see `loadNats`. */
	bundled?: string | undefined;
	clock: Clock;
	/** Called when the connection is lost, and when it is there again. */
	onLink: (isUp: boolean) => void;
}

export const SEAL = "Pi-Seal";
const CONNECT_MS = 5_000;
const REQUEST_MS = 5_000;
/** A connection that answers no ping for about this long counts as lost. */
const PING_MS = 1_000;
const RETRY_MS = 250;
const DAY_NS = 24 * 60 * 60 * 1e9;
/** How long the engine remembers the ids of messages. */
const DUPLICATES_NS = 120 * 1e9;
/** Orders live a day, and what is known of a run lives longer, so an old order that appears again finds its claim. */
export const ORDER_MS = DAY_NS / 1e6;

export class Engine {
	readonly names: Names;
	readonly nats: NatsPackages;
	readonly connection: NatsConnection;
	readonly js: JetStreamClient;
	readonly #options: EngineOptions;
	readonly #key: Buffer;
	#manager: JetStreamManager | undefined;
	isUp = true;

	/** Rejects with `Refused` if trying again would not help. */
	static async connect(options: EngineOptions): Promise<Engine> {
		const access = await openAccess(options.access);
		const nats = await loadNats(options.bundled);
		const names = namesOf(access.fleet);
		const engine = new Engine(options, access, nats, names, await connected(nats, access, names, options.client));
		try {
			await engine.ensureStreams();
		} catch (error) {
			await engine.close();
			throw new Refused(`${options.access.nats} has no JetStream for this fleet: ${messageOf(error)}`);
		}
		return engine;
	}

	private constructor(
		options: EngineOptions,
		{ key }: OpenedAccess,
		nats: NatsPackages,
		names: Names,
		connection: NatsConnection,
	) {
		this.#options = options;
		this.#key = key;
		this.nats = nats;
		this.names = names;
		this.connection = connection;
		this.js = nats.jetstream(connection, { timeout: REQUEST_MS });
		void this.#watch();
	}

	get isClosed(): boolean {
		return this.connection.isClosed();
	}

	/** How long a message may be, with room for its headers. */
	get maxBytes(): number {
		return (this.connection.info?.max_payload ?? 1024 * 1024) - 8 * 1024;
	}

	async manager(): Promise<JetStreamManager> {
		this.#manager ??= await this.nats.jetstreamManager(this.connection, { timeout: REQUEST_MS, checkAPI: false });
		return this.#manager;
	}

	/** The engine is a wire: if its store was lost, the streams are made again. */
	async ensureStreams(): Promise<void> {
		const { RetentionPolicy, StorageType } = this.nats;
		const { names } = this;
		const manager = await this.manager();
		const common = { storage: StorageType.File, duplicate_window: DUPLICATES_NS };
		const orders = { ...common, retention: RetentionPolicy.Workqueue, max_age: DAY_NS };
		for (const config of [
			{ ...orders, name: names.orders, subjects: [names.order("*")] },
			{ ...common, name: names.runs, subjects: [names.run("*")], max_age: 2 * DAY_NS },
		]) {
			try {
				await manager.streams.info(config.name);
			} catch (error) {
				if (!isStreamMissing(error)) throw error;
				await manager.streams.add(config);
			}
		}
	}

	/** Nobody needs to hear it. */
	publish(subject: string, body: unknown): void {
		const payload = JSON.stringify(body);
		if (!this.isClosed) this.connection.publish(subject, payload, { headers: this.sealed(subject, payload) });
	}

	/** Rejects with `Refused` if the other side does, and with another error if it does not answer. */
	async request(subject: string, body: unknown, timeout = REQUEST_MS): Promise<unknown> {
		const payload = JSON.stringify({ ...(body as object), nonce: randomBytes(8).toString("hex") });
		if (Buffer.byteLength(payload) > this.maxBytes) throw new Refused("a message is too long for the engine");
		const headers = this.sealed(subject, payload);
		const answer = await this.connection.request(subject, payload, { timeout, headers });
		const reply = this.opened(`${subject}\n${headers.get(SEAL)}`, answer);
		if (!isObject(reply)) throw new Error("the answer is not sealed with the fleet's key");
		if (reply.ok === true) return reply.value;
		throw toldError(this.#options.machine, reply.error, reply.isFinal === true);
	}

	/** Answers requests. Returns a function that ends it. */
	serve(subject: string, handler: (body: Record<string, unknown>) => Promise<unknown>): () => void {
		return this.#subscribe(subject, async (message) => {
			const body = this.opened(message.subject, message);
			if (!isObject(body) || message.reply === undefined) return;
			const answer = await answerOf(() => handler(body));
			const payload = JSON.stringify(answer);
			const context = `${message.subject}\n${message.headers?.get(SEAL)}`;
			if (!this.isClosed) message.respond(payload, { headers: this.sealed(context, payload) });
		});
	}

	/** Hears what is published. Returns a function that ends it. */
	hear(subject: string, listener: (body: Record<string, unknown>) => void): () => void {
		return this.#subscribe(subject, async (message) => {
			const body = this.opened(message.subject, message);
			if (isObject(body)) listener(body);
		});
	}

	sealed(context: string, payload: string | Uint8Array): MsgHdrs {
		const headers = this.nats.headers();
		headers.set(SEAL, this.#mac(context, payload).toString("hex"));
		return headers;
	}

	isSealed(context: string, payload: Uint8Array, seal: string | undefined): boolean {
		const [given, wanted] = [Buffer.from(seal ?? "", "hex"), this.#mac(context, payload)];
		return given.length === wanted.length && timingSafeEqual(given, wanted);
	}

	/** The JSON in a message; undefined if the seal is not ours. */
	opened(context: string, { data, headers }: { data: Uint8Array; headers?: MsgHdrs | undefined }): unknown {
		if (!this.isSealed(context, data, headers?.get(SEAL))) return undefined;
		return parseJson(Buffer.from(data).toString("utf8"));
	}

	/** Resolves when it is worth trying again. Rejects when this connection was closed for good. */
	async pause(): Promise<void> {
		await new Promise<void>((resolve) => void this.#options.clock.after(RETRY_MS, resolve));
		if (this.isClosed) throw new Error("the connection is closed");
	}

	async close(): Promise<void> {
		await this.connection.close();
	}

	#mac(context: string, payload: string | Uint8Array): Buffer {
		return createHmac("sha256", this.#key).update(`${context}\n`).update(payload).digest();
	}

	#subscribe(subject: string, listener: (message: Msg) => Promise<void>): () => void {
		const subscription: Subscription = this.connection.subscribe(subject, {
			callback: (error, message) => {
				if (!error) void listener(message).catch(() => undefined); // a closed connection sends no answers
			},
		});
		return () => subscription.unsubscribe();
	}

	async #watch(): Promise<void> {
		for await (const { type } of this.connection.status()) {
			const isUp = type === "reconnect" ? true : type === "disconnect" || type === "close" ? false : this.isUp;
			if (isUp === this.isUp) continue;
			this.isUp = isUp;
			this.#options.onLink(isUp);
		}
	}
}

async function connected(nats: NatsPackages, access: OpenedAccess, names: Names, client: string) {
	const { servers, token, seed, tls } = access;
	try {
		return await nats.connect({
			servers,
			name: client,
			timeout: CONNECT_MS,
			maxReconnectAttempts: -1,
			reconnectTimeWait: RETRY_MS,
			pingInterval: PING_MS,
			maxPingOut: 3,
			inboxPrefix: names.inbox,
			ignoreClusterUpdates: true, // other addresses that an engine names would be used without asking for TLS
			ignoreAuthErrorAbort: true, // an engine that restarts may know its users later
			...(token !== undefined && { token }),
			...(seed !== undefined && { authenticator: nats.nkeyAuthenticator(Buffer.from(seed)) }),
			...(tls && { tls }),
		});
	} catch (error) {
		throw explained(error, servers);
	}
}

function explained(error: unknown, servers: readonly string[]): Error {
	const message = messageOf(error);
	const where = `The fleet's engine at ${servers.join(", ")}`;
	if (/authorization|authentication/i.test(message))
		return new Refused(`${where} refuses this user: ${message}. Look at \`tokenFile\` or \`nkeyFile\`.`);
	if (/does not support 'tls'/.test(message))
		return new Refused(
			`${where} has no TLS, which is needed for an engine on another machine (or reach it through ssh -L).`,
		);
	if (/altnames/.test(message))
		return new Refused(`${where} has a certificate for another name: ${message} Use the name in it.`);
	if (/certificate|self.signed/i.test(message))
		return new Refused(
			`${where} has a certificate that is not trusted: ${message}. Name its authority with \`caFile\`.`,
		);
	return new Error(`${where} cannot be reached: ${message}`);
}

async function answerOf(work: () => Promise<unknown>): Promise<object> {
	try {
		return { ok: true, value: await work() };
	} catch (error) {
		return { ok: false, error: messageOf(error), isFinal: error instanceof Refused };
	}
}

const STREAM_NOT_FOUND = 10059;

export function isStreamMissing(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === STREAM_NOT_FOUND;
}
