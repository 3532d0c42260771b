/**
 * The log of one run in the engine. Every message must follow the one that its writer knew last (compare-and-set), so a
 * run has one writer: a late writer learns that another one has written, and stops.
 */
import { randomBytes } from "node:crypto";
import type { ConsumerMessages, MsgRequest, StoredMsg } from "@nats-io/jetstream";
import { isObject, parseJson } from "@pi-subagents/core/internal/base";
import { Refused } from "../link/link.ts";
import { type Engine, isStreamMissing, SEAL } from "./engine.ts";

/** What a message says it is. `fence` and `withdrawn` come from the near side: the run is over, whichever worker has it. */
export type EntryKind = "claim" | "accepted" | "refused" | "piece" | "done" | "fence" | "withdrawn";

export interface Entry {
	seq: number;
	id: string;
	/** Who wrote it: a worker, or a process that launches agents. */
	writer: string;
	kind: string;
	/** Undefined if it is a part of a long message. */
	body: unknown;
}

interface NewEntry {
	writer: string;
	kind: EntryKind;
	/** The same for every attempt to write this entry, and for no other entry. */
	nonce: string;
	body: unknown;
}

/** Why the near side itself, now or in an earlier process, gave the run up. Undefined if it did not. */
export function whyGivenUp({ kind, body }: Entry): string | undefined {
	if (kind === "withdrawn") return "no worker took it";
	if (kind !== "fence") return undefined;
	return isObject(body) && "why" in body ? String(body.why) : "it was given up";
}

/** Somebody else wrote to the run's log: the run is not ours any more. */
export class Fenced extends Error {
	override readonly name = "Fenced";
}

const PART = "Pi-Part";
const ID = "Nats-Msg-Id";
const WRONG_LAST_SEQUENCE = 10071;
const MAX_BYTES = 64 * 1024 * 1024;
const IDLE_HEARTBEAT_MS = 500;
/** How many messages the engine sends before it is asked for more. Each may have a megabyte. */
const AHEAD = 8;

/** The end of a log. */
export interface End {
	/** Where the next entry goes: after this number. 0 if nothing is there. */
	seq: number;
	/** The newest entry; undefined if there is none. */
	entry: Entry | undefined;
}

/** `after`: entries up to this number are known. Messages that are not sealed with our key count as noise. */
export async function endOf(engine: Engine, key: string, after = 0): Promise<End> {
	const { streams } = await engine.manager();
	const [stream, subject] = [engine.names.runs, engine.names.run(key)];
	const opened = ({ header, data, seq }: StoredMsg) =>
		entryOf(engine, subject, { data, seq, header: (name) => header.get(name) });
	try {
		const last = await streams.getMessage(stream, { last_by_subj: subject });
		if (!last) return { seq: 0, entry: undefined };
		let entry = opened(last);
		for (let seq = entry ? last.seq : after; seq < last.seq; ) {
			const query = { seq: seq + 1, next_by_subj: subject }; // which the client's type does not know
			const next = await streams.getMessage(stream, query as MsgRequest);
			if (!next) break;
			entry = opened(next) ?? entry;
			seq = next.seq;
		}
		return { seq: last.seq, entry };
	} catch (error) {
		if (isStreamMissing(error)) return { seq: 0, entry: undefined };
		throw error;
	}
}

/**
 * Writes an entry after the one with this number; 0 means that there is none. Tries again as long as the engine is away.
 * Resolves with its number, or with what is there instead.
 */
export async function writeAfter(engine: Engine, key: string, seq: number, entry: NewEntry): Promise<number | End> {
	const bytes = Buffer.from(JSON.stringify(entry.body));
	if (bytes.length > MAX_BYTES) throw new Refused(`a message of ${bytes.length} bytes is too long to be sent`);
	const size = engine.maxBytes;
	const count = Math.max(1, Math.ceil(bytes.length / size));
	let last = seq;
	for (let part = 0; part < count; part++) {
		const label = `${part + 1}/${count}`;
		const id = [key, entry.writer, entry.kind, entry.nonce, label].join(":");
		const data = bytes.subarray(part * size, (part + 1) * size);
		const written = await writePart(engine, key, last, { id, label, data });
		if (typeof written !== "number") return written;
		last = written;
	}
	return last;
}

interface Part {
	id: string;
	label: string;
	data: Buffer;
}

async function writePart(engine: Engine, key: string, after: number, { id, label, data }: Part): Promise<number | End> {
	const subject = engine.names.run(key);
	const headers = engine.sealed(contextOf(subject, id, label), data);
	headers.set(PART, label);
	for (let seq = after; ; ) {
		try {
			const expect = { lastSubjectSequence: seq };
			return (await engine.js.publish(subject, data, { msgID: id, headers, expect })).seq;
		} catch (error) {
			if (codeOf(error) === WRONG_LAST_SEQUENCE) {
				const end = await patiently(engine, () => endOf(engine, key, seq));
				if (end.entry?.id === id) return end.seq; // it was our own write, whose answer was lost
				if (end.entry !== undefined || end.seq <= seq) return end;
				seq = end.seq; // only noise
				continue;
			}
			await engine.pause(); // the engine is away, or lost its store
			await engine.ensureStreams().catch(() => undefined);
		}
	}
}

/** Until the engine answers. */
async function patiently<T>(engine: Engine, ask: () => Promise<T>): Promise<T> {
	for (;;) {
		try {
			return await ask();
		} catch {
			await engine.pause();
		}
	}
}

/** The worker's end: appends one entry after the other. */
export class RunWriter {
	readonly #engine: Engine;
	readonly #key: string;
	readonly #worker: string;
	/** Differs for each process that writes for this worker. */
	readonly #life: string;
	#seq = 0;
	#last: Promise<unknown> = Promise.resolve();

	constructor(engine: Engine, key: string, { worker, life }: { worker: string; life: string }) {
		this.#engine = engine;
		this.#key = key;
		this.#worker = worker;
		this.#life = life;
	}

	/** Whether the run is ours to start. One that we had, and that began or ended, is not: its order came twice. */
	async claim(): Promise<boolean> {
		const body = { worker: this.#worker, life: this.#life };
		// Another number each time: the engine would take a known one for a repetition, and say yes.
		const entry = { writer: this.#worker, kind: "claim", nonce: this.#nextNonce(), body } as const;
		const written = await writeAfter(this.#engine, this.#key, 0, entry);
		const isOurs =
			typeof written === "number" || (written.entry?.writer === this.#worker && written.entry.kind === "claim");
		if (isOurs) this.#seq = typeof written === "number" ? written : written.seq;
		return isOurs;
	}

	/**
	 * Continues what an earlier process of this worker wrote, and throws `Fenced` if another one has written since. After the
	 * engine lost its store there is nothing: the run is claimed again. Resolves with the newest entry.
	 */
	async resume(): Promise<Entry | undefined> {
		return this.#inTurn(async () => {
			const { seq, entry } = await patiently(this.#engine, () => endOf(this.#engine, this.#key));
			if (entry === undefined && !(await this.claim())) throw new Fenced("another worker has the run");
			if (entry !== undefined && entry.writer !== this.#worker)
				throw new Fenced("it was given up, or another worker has it");
			if (entry !== undefined) this.#seq = seq;
			return entry;
		});
	}

	/** In the order of the calls. Throws `Fenced` if the run is not ours any more. */
	append(kind: EntryKind, body: unknown): Promise<void> {
		return this.#inTurn(async () => {
			const entry = { writer: this.#worker, kind, nonce: this.#nextNonce(), body };
			for (;;) {
				const written = await writeAfter(this.#engine, this.#key, this.#seq, entry);
				if (typeof written === "number") {
					this.#seq = written;
					return;
				}
				if (written.entry !== undefined || !(await this.claim())) throw new Fenced("another process wrote to its log");
				// The engine lost its store. The run is claimed again, and the entry follows.
			}
		});
	}

	/** Nothing but the last entry is needed any more: it stays, so that the same order is not taken again. */
	async trim(): Promise<void> {
		const { names } = this.#engine;
		await (await this.#engine.manager()).streams.purge(names.runs, { filter: names.run(this.#key), keep: 1 });
	}

	#nextNonce(): string {
		return `${this.#life}.${randomBytes(4).toString("hex")}`;
	}

	#inTurn<T>(work: () => Promise<T>): Promise<T> {
		const done = this.#last.then(work, work);
		this.#last = done.catch(() => undefined);
		return done;
	}
}

export interface ReadOptions {
	/** Entries with this number and later ones. */
	from: number;
	/** Awaited before more is read. */
	onEntry: (entry: Entry) => void | Promise<void>;
	/** Called once, if entries may have been missed: begin again. */
	onDoubt: () => void;
	/** Called once, if a message is longer than any that we write: nothing more is read. Default: as with a doubt. */
	onTooLong?: (why: string) => void;
}

/** The near side's end. Returns a function that ends it. */
export async function readEntries(
	engine: Engine,
	key: string,
	{ from, onEntry, onDoubt, onTooLong = onDoubt }: ReadOptions,
): Promise<() => void> {
	const subject = engine.names.run(key);
	const consumer = await engine.js.consumers.get(engine.names.runs, { filter_subjects: subject, opt_start_seq: from });
	const messages: ConsumerMessages = await consumer.consume({
		idle_heartbeat: IDLE_HEARTBEAT_MS,
		max_messages: AHEAD,
	});
	let isOver = false;
	const end = () => {
		isOver = true;
		messages.stop();
	};
	const doubt = () => {
		if (isOver) return;
		end();
		onDoubt();
	};
	void (async () => {
		for await (const { type } of messages.status())
			if (type !== "debug" && type !== "next" && type !== "heartbeat" && type !== "flow_control") return doubt();
	})().catch(doubt);
	void (async () => {
		let parts: Buffer[] = [];
		let bytes = 0;
		for await (const message of messages) {
			if (isOver) return;
			const { seq, data, headers } = message;
			const label = headers?.get(PART) ?? "";
			const entry = entryOf(engine, subject, { seq, data, header: (name) => headers?.get(name) ?? "" });
			if (!entry) continue; // not sealed by us
			if (label.startsWith("1/")) [parts, bytes] = [[], 0];
			bytes += data.length;
			if (bytes > MAX_BYTES) {
				end();
				return onTooLong(`a message of it is longer than ${MAX_BYTES / 1024 / 1024} MB`);
			}
			parts.push(Buffer.from(data));
			const [part, count] = label.split("/").map(Number);
			if (part !== count) continue;
			if (parts.length !== count) return doubt();
			const body = parseJson(Buffer.concat(parts).toString("utf8"));
			parts = [];
			await onEntry({ ...entry, body });
		}
		doubt();
	})().catch(doubt);
	return end;
}

interface Stored {
	seq: number;
	data: Uint8Array;
	header: (name: string) => string;
}

function entryOf(engine: Engine, subject: string, { seq, data, header }: Stored): Entry | undefined {
	const [id, label] = [header(ID), header(PART)];
	if (!engine.isSealed(contextOf(subject, id, label), data, header(SEAL))) return undefined;
	const [, writer = "", kind = ""] = id.split(":");
	return { seq, id, writer, kind, body: label === "1/1" ? parseJson(Buffer.from(data).toString("utf8")) : undefined };
}

function contextOf(subject: string, id: string, label: string): string {
	return [subject, id, label].join("\n");
}

function codeOf(error: unknown): unknown {
	return error instanceof Error && "code" in error ? error.code : undefined;
}
