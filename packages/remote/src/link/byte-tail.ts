/** Reads new bytes of the files of one directory, with their offset, so that a copy can continue after any break. */
import { type FSWatcher, watch } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, messageOf, type Report } from "@pi-subagents/core";
import { codeOf, openPlain } from "@pi-subagents/core/files";

export interface ByteTailOptions {
	dir: string;
	/** The names of the files, and how many bytes of each are known already. */
	from: ReadonlyMap<string, number>;
	/** Awaited before more is read. `at: 0` of a file that had some means that it starts over. */
	onBytes: (name: string, at: number, bytes: Buffer) => Promise<void>;
	/** Called after each look, when all existing bytes were delivered. */
	onQuiet?: () => Promise<void>;
	clock: Clock;
	report: Report;
}

/** No run writes this much into one file: what is longer was made to keep its reader busy. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Not every file system reports changes. */
const POLL_MS = 2_000;
const CHUNK_BYTES = 256 * 1024;

interface Place {
	position: number;
	/** A file that was replaced has another. */
	inode: number | undefined;
}

export class ByteTail {
	readonly #options: ByteTailOptions;
	readonly #places: Map<string, Place>;
	#watcher: FSWatcher | undefined;
	#cancelPoll = (): void => undefined;
	#looking: Promise<void> | undefined;
	#mustLookAgain = false;
	#isClosed = false;
	#hasComplained = false;

	constructor(options: ByteTailOptions) {
		this.#options = options;
		this.#places = new Map([...options.from].map(([name, position]) => [name, { position, inode: undefined }]));
		try {
			this.#watcher = watch(options.dir, { persistent: false }, () => void this.look());
			this.#watcher.on("error", () => this.#watcher?.close()); // polling continues
		} catch {
			this.#watcher = undefined; // too many watchers, or the directory is gone: polling must do
		}
		this.#poll();
		void this.look();
	}

	/** Resolves when all bytes now in the files were delivered. Never rejects. */
	look(): Promise<void> {
		this.#mustLookAgain = true;
		this.#looking ??= this.#lookAround().finally(() => {
			this.#looking = undefined;
		});
		return this.#looking;
	}

	/** Resolves when nothing is being delivered. Never rejects. */
	get rested(): Promise<void> {
		return this.#looking ?? Promise.resolve();
	}

	close(): void {
		this.#isClosed = true;
		this.#watcher?.close();
		this.#cancelPoll();
	}

	#poll(): void {
		this.#cancelPoll = this.#options.clock.after(POLL_MS, () => {
			void this.look();
			this.#poll();
		});
	}

	async #lookAround(): Promise<void> {
		while (this.#mustLookAgain && !this.#isClosed) {
			this.#mustLookAgain = false;
			try {
				for (const [name, place] of this.#places) await this.#readOn(name, place);
				if (!this.#isClosed) await this.#options.onQuiet?.();
			} catch (error) {
				if (!this.#hasComplained && !this.#isClosed) this.#options.report(`${this.#options.dir}: ${messageOf(error)}`);
				this.#hasComplained = true;
			}
		}
	}

	/** No file is open while a part of it is delivered: its reader may never be done with it. */
	async #readOn(name: string, place: Place): Promise<void> {
		while (!this.#isClosed) {
			const bytes = await readNext(join(this.#options.dir, name), place);
			if (!bytes) return;
			await this.#options.onBytes(name, place.position, bytes);
			place.position += bytes.length;
		}
	}
}

/** The next part of the file. Undefined if there is none. */
async function readNext(path: string, place: Place): Promise<Buffer | undefined> {
	const file = await opened(path);
	if (!file) return undefined;
	try {
		const { size: length, ino } = await file.stat();
		const size = Math.min(length, MAX_BYTES);
		if (size < place.position || (place.inode !== undefined && place.inode !== ino)) place.position = 0;
		place.inode = ino;
		if (place.position >= size) return undefined;
		const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - place.position));
		const { bytesRead } = await file.read(bytes, 0, bytes.length, place.position);
		return bytesRead === 0 ? undefined : bytes.subarray(0, bytesRead);
	} finally {
		await file.close();
	}
}

async function opened(path: string): Promise<FileHandle | undefined> {
	try {
		return await openPlain(path);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return undefined;
		throw error;
	}
}
