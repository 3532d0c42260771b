/**
 * Requests and notices as JSON lines over two byte streams, both ways: a pipe or an ssh connection. Knows nothing of
 * runs. What does not parse is dropped: both ends are ours, and a login shell may print something first.
 */
import type { Readable, Writable } from "node:stream";
import { isObject, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { createLineSplitter, MAX_LINE_BYTES } from "@pi-subagents/progress";
import { Disconnected, Refused } from "../link/link.ts";
import { toldError } from "../link/words.ts";

type Handler = (body: unknown) => unknown;

export interface ChannelOptions {
	input: Readable;
	output: Writable;
	/** What the other side is called here: errors with which it answers are quoted as its words. */
	machine?: string;
	/** What the other side may ask for. A rejection is its answer. */
	handlers: Readonly<Record<string, Handler>>;
	/**
	 * Notices that are worked off before many more are read: their handlers' promises say when. Never of what leads to a
	 * request of ours, since its answer would not be read either.
	 */
	paced?: ReadonlySet<string>;
	/** How many requests of the other side are answered at once. The others wait; with far too many the channel is closed. */
	atOnce?: number;
	/** Called with every line that arrives, even if it is of no use. One that closes the channel is not obeyed. */
	onSign?: () => void;
	/** Called once, when nothing more can be sent or received. */
	onClosed: () => void;
}

/** How much may wait for the handlers of paced notices. */
const MAX_PACED_BYTES = 8 * 1024 * 1024;
/** No other side has so many open requests: it does not wait for answers. */
const MAX_REQUESTS = 10_000;

interface Waiting {
	resolve: (value: unknown) => void;
	reject: (error: Error) => void;
}

export class Channel {
	readonly #options: ChannelOptions;
	readonly #waiting = new Map<number, Waiting>();
	#last = 0;
	#isClosed = false;
	#pacedBytes = 0;
	/** Requests of the other side: being answered, and waiting for that. */
	#answering = 0;
	readonly #requests: (() => void)[] = [];

	constructor(options: ChannelOptions) {
		this.#options = options;
		const { input, output, onSign } = options;
		const splitter = createLineSplitter({
			onLine: (line) => {
				onSign?.();
				if (!this.#isClosed) this.#hear(line);
			},
		});
		input.on("data", (bytes: Buffer) => splitter.push(bytes));
		for (const stream of [input, output]) {
			stream.on("error", () => this.close());
			stream.on("close", () => this.close());
		}
		input.on("end", () => this.close());
	}

	/** Rejects with `Refused` if the other side does, and with `Disconnected` if the connection ends first. */
	request(does: string, body: unknown): Promise<unknown> {
		const id = ++this.#last;
		return new Promise((resolve, reject) => {
			if (this.#isClosed) return reject(new Disconnected("the connection is closed"));
			this.#waiting.set(id, { resolve, reject });
			this.#send({ id, does, body }).catch((error) => {
				this.#waiting.delete(id);
				reject(error);
			});
		});
	}

	/** Resolves when more can be sent. */
	notify(does: string, body: unknown): Promise<void> {
		return this.#send({ does, body });
	}

	close(): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		this.#requests.length = 0;
		this.#options.input.resume(); // its end is seen only if it is read
		for (const { reject } of this.#waiting.values()) reject(new Disconnected("the connection ended"));
		this.#waiting.clear();
		this.#options.onClosed();
	}

	#send(frame: object): Promise<void> {
		const line = `${JSON.stringify(frame)}\n`;
		if (Buffer.byteLength(line) > MAX_LINE_BYTES)
			return Promise.reject(new Refused(`a message of ${line.length} characters is too long to be sent`));
		const { output } = this.#options;
		return new Promise((resolve, reject) => {
			if (this.#isClosed || !output.writable) return reject(new Disconnected("the connection is closed"));
			output.write(line, (error) => (error ? reject(new Disconnected(messageOf(error))) : resolve()));
		});
	}

	#hear(line: string): void {
		const frame = parseJson(line);
		if (!isObject(frame)) return;
		const { id, does, body } = frame;
		if (typeof does !== "string") {
			if (typeof id === "number") this.#settle(id, frame);
		} else if (typeof id === "number") this.#queue(() => this.#obey(does, body, id));
		else void this.#pace(line.length, this.#options.paced?.has(does) === true, this.#obey(does, body, undefined));
	}

	/** Reads on when enough was worked off. */
	async #pace(bytes: number, isPaced: boolean, work: Promise<void>): Promise<void> {
		if (!isPaced) return work;
		const { input } = this.#options;
		this.#pacedBytes += bytes;
		if (this.#pacedBytes > MAX_PACED_BYTES && !this.#isClosed) input.pause();
		await work;
		this.#pacedBytes -= bytes;
		if (this.#pacedBytes <= MAX_PACED_BYTES) input.resume();
	}

	/** An answer may be long, and the other side need not read it: so few are made at a time. */
	#queue(answer: () => Promise<void>): void {
		const { atOnce = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#requests.length >= MAX_REQUESTS) this.close();
		if (this.#isClosed) return;
		this.#requests.push(() => {
			this.#answering++;
			void answer().finally(() => {
				this.#answering--;
				this.#requests.shift()?.();
			});
		});
		if (this.#answering < atOnce) this.#requests.shift()?.();
	}

	#settle(id: number, { ok, value, error, isFinal }: Record<string, unknown>): void {
		const waiting = this.#waiting.get(id);
		this.#waiting.delete(id);
		if (ok === true) waiting?.resolve(value);
		else waiting?.reject(toldError(this.#options.machine, error, isFinal === true));
	}

	async #obey(does: string, body: unknown, id: number | undefined): Promise<void> {
		const handler = Object.hasOwn(this.#options.handlers, does) ? this.#options.handlers[does] : undefined;
		const reply = await answerOf(handler, body, does);
		if (id !== undefined) await this.#send({ id, ...reply }).catch(() => this.close());
	}
}

async function answerOf(handler: Handler | undefined, body: unknown, does: string): Promise<object> {
	try {
		if (!handler) throw new Refused(`"${does}" is unknown here`);
		return { ok: true, value: await handler(body) };
	} catch (error) {
		return { ok: false, error: messageOf(error), isFinal: error instanceof Refused };
	}
}
