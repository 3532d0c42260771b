/**
 * The link to a machine that is reached by starting a program: `pi-subagents-worker --stdio`, here or through ssh. All
 * runs of this process on that machine share one connection. A connection that ends, or falls silent, is opened again
 * as long as it is needed; no run counts as lost meanwhile.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type Clock, type Report, steadyClock } from "@pi-subagents/core";
import { isShortage, untilSpawned, whyNotStarted } from "@pi-subagents/core/internal/base";
import { signalChild } from "@pi-subagents/core/internal/signals";
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
import { plainWord, quotable } from "../link/words.ts";
import { Channel } from "./channel.ts";
import {
	BEAT_MS,
	checked,
	copyBlob,
	type Hello,
	helloSchema,
	type PieceBody,
	PROTOCOL,
	pieceSchema,
	readChunk,
	readSchema,
	SILENCE_MS,
} from "./protocol.ts";

export interface StdioLinkOptions {
	/** The machine's name, for people. */
	name: string;
	command: string;
	args: readonly string[];
	env?: Readonly<Record<string, string | undefined>> | undefined;
	/** Our own version. */
	version: string;
	clock: Clock;
	report: Report;
	/** How to install the worker, or what to check, if the program ends with this exit code. */
	hint?: (code: number | null) => string | undefined;
}

/** Without work, the connection is closed after this time. */
const IDLE_MS = 30_000;
/** How long the worker may take to say hello: a login on a slow machine, or a first start. */
const HELLO_MS = 60_000;
const MAX_COMPLAINT = 1_000;
/** How long a part of a file may take. */
const ANSWER_MS = 60_000;
/** How long a worker that has an order may do nothing that is seen: it may have much to unpack, and it starts pi. */
const START_MS = 10 * 60_000;
/** How long the program may take to end, once its connection is closed. */
const END_MS = 5_000;
/** Parts of files that are read for the other side at the same time. */
const READ_AT_ONCE = 8;

interface Following {
	marks: () => Promise<Marks>;
	hear: Hear;
}

interface Connection {
	channel: Channel;
	child: ChildProcess;
	lastSignAt: number;
}

export class StdioLink implements Link {
	readonly blobs: Blobs;
	readonly #options: StdioLinkOptions;
	readonly #clock: Clock;
	readonly #following = new Map<string, Following>();
	readonly #offers = new Map<string, () => Promise<string>>();
	readonly #shared: SharedConnection<Connection>;
	readonly #listeners = new Set<(isUp: boolean) => void>();
	#connection: Connection | undefined;
	#cancelBeat = (): void => undefined;
	/** When the worker last asked for a part of a file. */
	#readAt = 0;

	constructor(options: StdioLinkOptions) {
		this.#options = options;
		this.#clock = steadyClock(options.clock);
		this.#shared = new SharedConnection({
			clock: this.#clock,
			report: options.report,
			idleMs: IDLE_MS,
			current: () => this.#connection,
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
			for (let failures = 0; ; failures++) {
				signal.throwIfAborted();
				try {
					const { channel } = await this.#shared.connected();
					await this.#unlessIdle(channel.request("submit", order));
					return;
				} catch (error) {
					if (error instanceof Refused || signal.aborted) throw error;
					if (failures >= RETRY_MS.length) throw error; // a launch does not wait forever
				}
				await this.#pause(RETRY_MS[failures] ?? 0, signal);
			}
		});
	}

	follow(key: string, marks: () => Promise<Marks>, hear: Hear): () => void {
		const following = { marks, hear };
		this.#following.set(key, following);
		if (this.#connection) void this.#begin(this.#connection, key, following);
		else this.#shared.connectLater();
		return () => {
			if (this.#following.get(key) !== following) return;
			this.#following.delete(key);
			void this.#connection?.channel.notify("unfollow", { key }).catch(ignore);
			this.#shared.restWhenIdle();
		};
	}

	async control(key: string, message: ControlMessage): Promise<void> {
		const connection = this.#connection;
		if (!connection) throw new Disconnected(`${this.#options.name} cannot be reached`);
		await this.#shared.whileNeeded(() => connection.channel.request("control", { key, message }));
	}

	onBeat(listener: (isUp: boolean) => void): () => void {
		this.#listeners.add(listener);
		listener(this.#connection !== undefined);
		return () => this.#listeners.delete(listener);
	}

	/** Ends the connection. What runs on the other machine continues as if this process had ended. */
	close(): void {
		this.#following.clear();
		this.#shared.cancel();
		this.#drop();
	}

	#offer(id: string, make: () => Promise<string>): () => void {
		let made: Promise<string> | undefined;
		const once = () => (made ??= make());
		this.#offers.set(id, once);
		return () => {
			if (this.#offers.get(id) === once) this.#offers.delete(id);
			void made?.then((path) => rm(dirname(path), { recursive: true, force: true }), ignore);
		};
	}

	async #fetch(key: string, id: string, path: string, limits: FetchLimits): Promise<void> {
		await this.#shared.whileNeeded(async () => {
			const { channel } = await unlessAborted(this.#shared.connected(), limits.signal);
			await copyBlob(path, (at) => this.#inTime(channel.request("read", { key, id, at })), limits);
		});
	}

	/** Fetching what it lacks of a repository may take a worker long; doing nothing must not. */
	#unlessIdle(answer: Promise<unknown>): Promise<unknown> {
		return new Promise((resolve, reject) => {
			let cancel = ignore;
			const watch = (since: number) => {
				cancel = this.#clock.after(Math.max(0, since + START_MS - this.#clock.now()), () => {
					if (this.#readAt > since) watch(this.#readAt);
					else reject(new Refused(`${this.#options.name} has the order, and does not start the agent.`));
				});
			};
			watch(this.#clock.now());
			answer.then(resolve, reject).finally(() => cancel());
		});
	}

	/** A machine that shows that it lives, and does not answer, must not keep a run from ending. */
	#inTime(answer: Promise<unknown>): Promise<unknown> {
		return new Promise((resolve, reject) => {
			const late = () => reject(new Error(`${this.#options.name} does not answer`));
			const cancel = this.#clock.after(ANSWER_MS, late);
			answer.then(resolve, reject).finally(cancel);
		});
	}

	async #connect(): Promise<Connection> {
		const { command, args, env = process.env } = this.#options;
		const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"], detached: true, windowsHide: true });
		await untilSpawned(child).catch((error) => {
			throw this.#notStarted(error);
		});
		const { stdin, stdout, stderr } = child;
		const greeted = Promise.withResolvers<Hello>();
		let complaint = "";
		stderr.setEncoding("utf8").on("data", (text: string) => {
			complaint = (complaint + text).slice(-MAX_COMPLAINT);
		});
		const failed = (code: number | null) => greeted.reject(this.#failure(code, this.#said(complaint)));
		child.once("close", failed);
		const channel = new Channel({
			input: stdout,
			output: stdin,
			machine: this.#options.name,
			handlers: {
				hello: (body) => greeted.resolve(checked<Hello>(helloSchema, body, "the worker's greeting")),
				beat: ignore,
				piece: (body) => this.#hear(body),
				blob: (body) => this.#read(body),
			},
			paced: new Set(["piece"]),
			atOnce: READ_AT_ONCE,
			onSign: () => {
				connection.lastSignAt = this.#clock.now();
			},
			onClosed: () => {
				signalChild(child); // ssh may wait for a network that is gone
				for (const pipe of [stdout, stderr]) pipe.destroy(); // what it still says is not read
				child.once(
					"exit",
					this.#clock.after(END_MS, () => signalChild(child, "SIGKILL")),
				);
				if (this.#connection === connection) this.#lost();
			},
		});
		const connection: Connection = { channel, child, lastSignAt: this.#clock.now() };
		// Only the manager keeps our process alive.
		child.unref();
		for (const pipe of [stdin, stdout, stderr]) if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
		const cancel = this.#clock.after(HELLO_MS, () => greeted.reject(this.#failure(null, ": it does not answer")));
		try {
			this.#checkVersion(await greeted.promise);
		} catch (error) {
			channel.close();
			throw error;
		} finally {
			cancel();
		}
		this.#connection = connection;
		this.#beat(connection);
		for (const listener of this.#listeners) listener(true);
		for (const [key, following] of this.#following) void this.#begin(connection, key, following);
		this.#shared.restWhenIdle(); // the caller may be gone by now
		return connection;
	}

	#checkVersion({ protocol, version }: Hello): void {
		if (protocol === PROTOCOL) return;
		const { name, version: ours } = this.#options;
		const behind = protocol < PROTOCOL ? `on ${name}` : "here";
		throw new Refused(
			`${name} has pi-subagents ${plainWord(version) ?? "of an unknown version"}, which speaks protocol ${protocol}; version ${ours} here speaks ${PROTOCOL}. Update pi-subagents ${behind}.`,
		);
	}

	/** Nothing was reached yet: it is this machine that lacks something. */
	#notStarted(error: unknown): Error {
		const { name, command } = this.#options;
		const text = `${name} cannot be reached: ${command} could not be started here: ${whyNotStarted(error)}`;
		return isShortage(error) ? new Error(text) : new Refused(text);
	}

	/** What came on its standard error. Who wrote it, the program here or the machine, cannot be told apart. */
	#said(complaint: string): string {
		const { name, command } = this.#options;
		const words = quotable(complaint.replace(/\n+/g, " "), MAX_COMPLAINT);
		return words === "" ? "" : `; ${basename(command, ".exe")} or ${name} says: "${words}"`;
	}

	#failure(code: number | null, why: string): Error {
		const { name, hint } = this.#options;
		const advice = hint?.(code);
		const text = `${name} cannot be reached${why}${advice === undefined ? "" : `. ${advice}`}`;
		return advice === undefined ? new Error(text) : new Refused(text);
	}

	/** Says that we live, and looks whether the worker does. */
	#beat(connection: Connection): void {
		this.#cancelBeat = this.#clock.after(BEAT_MS, () => {
			if (this.#connection !== connection) return;
			if (this.#clock.now() - connection.lastSignAt > SILENCE_MS) return connection.channel.close();
			void connection.channel.notify("beat", {}).catch(ignore);
			this.#beat(connection);
		});
	}

	async #begin({ channel }: Connection, key: string, { marks }: Following): Promise<void> {
		try {
			await channel.request("follow", { key, marks: await marks() });
		} catch (error) {
			if (error instanceof Refused) this.#following.get(key)?.hear({ type: "gone", why: error.words ?? error.message });
			// Otherwise the connection ended, and the next one begins again.
		}
	}

	#hear(body: unknown): void | Promise<void> {
		const { key, piece } = checked<PieceBody>(pieceSchema, body, "a piece of a run");
		return this.#following.get(key)?.hear(piece);
	}

	async #read(body: unknown): Promise<unknown> {
		const { id, at } = checked<{ id: string; at: number }>(readSchema, body, "a request for a file");
		this.#readAt = this.#clock.now();
		const make = this.#offers.get(id);
		if (!make) throw new Refused(`"${id}" is not offered`); // whatever else is on this machine
		return readChunk(await make(), at);
	}

	#lost(): void {
		this.#drop();
		for (const listener of this.#listeners) listener(false);
		if (this.#following.size > 0) this.#shared.connectLater();
	}

	#drop(): void {
		const connection = this.#connection;
		this.#connection = undefined;
		this.#cancelBeat();
		connection?.child.stdin?.end();
		connection?.channel.close();
	}

	#pause(delay: number, signal: AbortSignal): Promise<void> {
		return new Promise((resolve) => {
			const cancel = this.#clock.after(delay, resolve);
			const stop = () => {
				cancel();
				resolve();
			};
			signal.addEventListener("abort", stop, { once: true });
		});
	}
}

const ignore = (): void => undefined;
