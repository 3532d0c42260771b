/**
 * The entries around the screen, as an LRU cache of chunks: however long the conversation is, only a few screens of it
 * are in memory.
 */
import { type Parsed, parse } from "./parts.ts";
import type { ConversationSource } from "./source.ts";

const CHUNK = 16;
/** Entries read before a chunk: the tool calls whose results it begins with. */
const LOOK_BACK = 8;
const MIN_CHUNKS = 16;

export class EntryWindow {
	readonly #source: ConversationSource;
	/** Most recently used last. */
	readonly #chunks = new Map<number, Parsed[]>();
	readonly #loading = new Map<number, Promise<void>>();
	#mostChunks = MIN_CHUNKS;
	#generation = 0;

	constructor(source: ConversationSource) {
		this.#source = source;
	}

	/** Undefined unless loaded. */
	at(index: number): Parsed | undefined {
		return this.#chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
	}

	/** Resolves when the entry's chunk is loaded. A nonexistent entry stays undefined. */
	load(index: number): Promise<void> {
		const number = Math.floor(index / CHUNK);
		const loading = this.#loading.get(number);
		if (loading) return loading.then(() => (this.at(index) ? undefined : this.load(index)));
		if (this.at(index) || index >= this.#source.length) return Promise.resolve();
		const work = this.#read(number).finally(() => {
			if (this.#loading.get(number) === work) this.#loading.delete(number);
		});
		this.#loading.set(number, work);
		return work;
	}

	/** Makes room for a screen of this height and the screens above and below it. */
	holdScreens(rows: number): void {
		this.#mostChunks = Math.max(MIN_CHUNKS, Math.ceil((rows * 3) / CHUNK) + 2);
	}

	/** Marks these as recently used. */
	touch(from: number, to: number): void {
		for (let number = Math.floor(from / CHUNK); number <= Math.floor(to / CHUNK); number++) {
			const chunk = this.#chunks.get(number);
			if (chunk) this.#keep(number, chunk);
		}
	}

	/** The conversation started over. */
	clear(): void {
		this.#generation++;
		this.#chunks.clear();
		this.#loading.clear();
	}

	/** Of a partial last chunk, only the new entries are read. */
	async #read(number: number): Promise<void> {
		const generation = this.#generation;
		const known = this.#chunks.get(number) ?? [];
		const start = number * CHUNK;
		const from = known.length > 0 ? start + known.length : Math.max(0, start - LOOK_BACK);
		const entries = await this.#source.read(from, start + CHUNK - from);
		if (generation !== this.#generation) return;
		const chunk = [...known];
		let before = known.at(-1);
		for (const [place, entry] of entries.entries()) {
			before = parse(entry, before);
			if (from + place >= start) chunk.push(before);
		}
		this.#keep(number, chunk.slice(0, CHUNK));
		for (const oldest of this.#chunks.keys()) {
			if (this.#chunks.size <= this.#mostChunks) break;
			this.#chunks.delete(oldest);
		}
	}

	#keep(number: number, chunk: Parsed[]): void {
		this.#chunks.delete(number);
		this.#chunks.set(number, chunk);
	}
}
