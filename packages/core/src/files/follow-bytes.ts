/**
 * The one way to follow files that others write: the bytes that they gain, with their offset, so that a reader can
 * continue after any break. `followLines` splits them into lines. What is not a regular file is reported, not read.
 */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { messageOf, type Report } from "../base/best-effort.ts";
import type { Clock } from "../base/clock.ts";
import { codeOf } from "../base/error-code.ts";
import { MAX_GROWING_BYTES, openPlain } from "./plain-file.ts";

export interface FollowBytesOptions {
	dir: string;
	/** The names of the files, and how many bytes of each are known already. A file need not exist yet. */
	from: ReadonlyMap<string, number>;
	/** The names of files whose changes cause a look; any when absent. */
	wakes?: readonly string[];
	/**
	 * Awaited before more is read. If it rejects, the same bytes come again at the next look. `at: 0` of a file that had
	 * some means that it starts over.
	 */
	onBytes: (name: string, at: number, bytes: Buffer) => void | Promise<void>;
	/** Where to continue in a file that became shorter. When absent, a file that was shortened or replaced starts over. */
	onShorter?: (name: string, size: number) => number;
	/** Called after each look, when all existing bytes were delivered. */
	onQuiet?: () => void | Promise<void>;
	/** Nothing behind this is read. Default 1 GB: more than any run writes. */
	maxBytes?: number;
	clock: Clock;
	/** Called once with what could not be read. */
	report: Report;
}

/** Not every file system reports changes, so we also poll. */
const POLL_MS = 2_000;
const CHUNK_BYTES = 256 * 1024;

interface Place {
	position: number;
	/** A file that was replaced has another. */
	inode: number | undefined;
}

export class BytesFollower {
	readonly #options: FollowBytesOptions;
	readonly #places: Map<string, Place>;
	#watcher: FSWatcher | undefined;
	#cancelPoll = (): void => undefined;
	#looking: Promise<void> | undefined;
	#mustLookAgain = false;
	#isClosed = false;
	#hasComplained = false;

	/** The first look begins at once. */
	constructor(options: FollowBytesOptions) {
		this.#options = options;
		this.#places = new Map([...options.from].map(([name, position]) => [name, { position, inode: undefined }]));
		this.#watch();
		this.#poll();
		void this.look();
	}

	/** Resolves when all bytes now in the files were delivered. Never rejects. */
	look(): Promise<void> {
		if (this.#isClosed) return this.rested;
		this.#mustLookAgain = true;
		this.#looking ??= this.#lookAround();
		return this.#looking;
	}

	/** Resolves when nothing is being delivered. Never rejects. */
	get rested(): Promise<void> {
		return this.#looking ?? Promise.resolve();
	}

	/** Nothing is delivered any more. */
	close(): void {
		this.#isClosed = true;
		this.#watcher?.close();
		this.#cancelPoll();
	}

	#watch(): void {
		const { dir, wakes } = this.#options;
		try {
			this.#watcher = watch(dir, { persistent: false }, (_event, name) => {
				if (!this.#isClosed && (name === null || !wakes || wakes.includes(name))) void this.look();
			});
			this.#watcher.on("error", () => this.#watcher?.close()); // polling continues
		} catch {
			this.#watcher = undefined; // too many watchers, or the directory is gone: polling must do
		}
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
				this.#complain(`${this.#options.dir}: ${messageOf(error)}`);
			}
		}
		this.#looking = undefined; // here, not later: what is asked for from now on needs another look
	}

	/** Once: it may be possible at the next look. */
	#complain(what: string): void {
		if (!this.#hasComplained && !this.#isClosed) this.#options.report(what);
		this.#hasComplained = true;
	}

	/**
	 * Up to the present end: a file that grows faster than it is read would never finish. No file is open while a part of
	 * it is delivered: its reader may never be done with it.
	 */
	async #readOn(name: string, place: Place): Promise<void> {
		let end: number | undefined;
		while (!this.#isClosed) {
			const part = await this.#readPart(name, place, end);
			if (!part) return;
			end ??= part.end;
			await this.#options.onBytes(name, place.position, part.bytes);
			place.position += part.bytes.length;
		}
	}

	/** The next part of the file and the file's end. Undefined if there is no part before the given end. */
	async #readPart(name: string, place: Place, until?: number): Promise<{ bytes: Buffer; end: number } | undefined> {
		const path = join(this.#options.dir, name);
		const file = await openPlain(path).catch((error: unknown) => {
			if (codeOf(error) !== "ENOENT") this.#complain(`${path} cannot be read: ${messageOf(error)}`);
			return undefined;
		});
		if (!file) return undefined;
		try {
			const end = this.#endOf(name, place, await file.stat());
			const bytes = Buffer.allocUnsafe(
				Math.min(CHUNK_BYTES, Math.max(0, Math.min(until ?? end, end) - place.position)),
			);
			const { bytesRead } = await file.read(bytes, 0, bytes.length, place.position);
			return bytesRead === 0 ? undefined : { bytes: bytes.subarray(0, bytesRead), end };
		} finally {
			await file.close();
		}
	}

	/** Where the file ends for us. Moves back to where it continues if it became shorter or was replaced. */
	#endOf(name: string, place: Place, { size, ino }: { size: number; ino: number }): number {
		const { onShorter, maxBytes = MAX_GROWING_BYTES, dir } = this.#options;
		if (size > maxBytes) {
			const most = `${Math.round(maxBytes / 1024 / 1024)} MB`;
			this.#complain(`${join(dir, name)} cannot be read: it is larger than ${most}; the rest is not read`);
		}
		const end = Math.min(size, maxBytes);
		const isShorter = end < place.position;
		const isReplaced = place.inode !== undefined && place.inode !== ino;
		place.inode = ino;
		if (isShorter || (isReplaced && !onShorter)) place.position = onShorter?.(name, end) ?? 0;
		return end;
	}
}
