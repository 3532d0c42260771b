/**
 * The entries around the screen. Reads them in chunks when they are asked for, and forgets those that were not looked
 * at for the longest: however long the conversation is, only a few screens of it are held.
 */
import { type Parsed, parse } from "./parts.ts";
import type { ConversationSource } from "./source.ts";

const CHUNK = 16;
/** So many entries before a chunk are read with it: the calls whose results it begins with. */
const LOOK_BACK = 8;
const LEAST_CHUNKS = 16;

export class EntryWindow {
	readonly #source: ConversationSource;
	/** Those used last are last. */
	readonly #chunks = new Map<number, Parsed[]>();
	readonly #loading = new Map<number, Promise<void>>();
	#mostChunks = LEAST_CHUNKS;
	#generation = 0;

	constructor(source: ConversationSource) {
		this.#source = source;
	}

	/** Undefined if it is not here: then `load` it. */
	at(index: number): Parsed | undefined {
		return this.#chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
	}

	/** Resolves when the entry is here, with those around it. One that does not exist is not. */
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

	/** Room for what a screen of this height shows, and for the screens above and below it. */
	holdScreens(rows: number): void {
		this.#mostChunks = Math.max(LEAST_CHUNKS, Math.ceil((rows * 3) / CHUNK) + 2);
	}

	/** The screen shows these: they go last. */
	touch(from: number, to: number): void {
		for (let number = Math.floor(from / CHUNK); number <= Math.floor(to / CHUNK); number++) {
			const chunk = this.#chunks.get(number);
			if (chunk) this.#keep(number, chunk);
		}
	}

	/** The conversation began anew. */
	clear(): void {
		this.#generation++;
		this.#chunks.clear();
		this.#loading.clear();
	}

	/** What is already here of a chunk at the end stays as it is; only what was added is read. */
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
