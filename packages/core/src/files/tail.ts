/** Reads the lines of a file that another process is writing: existing ones, then each as it is completed. */
import { type FSWatcher, watch } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { createLineSplitter } from "@pi-subagents/progress";
import { messageOf, type Report } from "../base/best-effort.ts";
import type { Clock } from "../base/clock.ts";
import { codeOf } from "../base/error-code.ts";
import { MAX_GROWING_BYTES, openPlain } from "./plain-file.ts";

export interface FollowOptions {
	clock: Clock;
	report: Report;
	/** Names of sibling files whose changes also trigger a look. */
	beside?: readonly string[];
	/** Its writer truncates it from time to time and starts over; what was not read by then does not matter. */
	startsOver?: boolean;
	/** Called after each look, when all existing lines were delivered. */
	onQuiet?: () => void;
	/** Nothing behind this is read. Default 1 GB: more than any run writes. */
	maxBytes?: number;
}

export interface LineFollower {
	/** Resolves when all complete lines now in the file were delivered. */
	flush(): Promise<void>;
	/** Stops delivering lines. */
	close(): void;
}

/** Not every file system reports changes, so we also poll. */
const POLL_MS = 2_000;
const CHUNK_BYTES = 64 * 1024;
const LF = Buffer.from("\n");

/** Lines end with LF. The file need not exist yet; lines over 8 MB are skipped and reported. */
export function followLines(path: string, onLine: (line: string) => void, options: FollowOptions): LineFollower {
	const follower = new Follower(path, onLine, options);
	follower.begin();
	return follower;
}

class Follower implements LineFollower {
	readonly #path: string;
	readonly #options: FollowOptions;
	readonly #splitter: ReturnType<typeof createLineSplitter>;
	readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
	#position = 0;
	#watcher: FSWatcher | undefined;
	#cancelPoll = (): void => undefined;
	/** The current look, and the one that must follow because something changed meanwhile. */
	#looking: Promise<void> | undefined;
	#next: Promise<void> | undefined;
	#isClosed = false;
	#hasComplained = false;

	constructor(path: string, onLine: (line: string) => void, options: FollowOptions) {
		this.#path = path;
		this.#options = options;
		this.#splitter = createLineSplitter({
			onLine: (line) => {
				if (!this.#isClosed) onLine(line);
			},
			onSkipped: (bytes) => options.report(`A line of ${bytes} bytes in ${path} is too long and was skipped.`),
		});
	}

	begin(): void {
		this.#watch();
		this.#poll();
		void this.flush();
	}

	flush(): Promise<void> {
		if (!this.#looking) {
			this.#looking = this.#look().finally(() => {
				this.#looking = undefined;
			});
			return this.#looking;
		}
		this.#next ??= this.#looking.then(() => {
			this.#next = undefined;
			return this.flush();
		});
		return this.#next;
	}

	close(): void {
		this.#isClosed = true;
		this.#watcher?.close();
		this.#cancelPoll();
	}

	#watch(): void {
		const names = [basename(this.#path), ...(this.#options.beside ?? [])];
		try {
			this.#watcher = watch(dirname(this.#path), { persistent: false }, (_event, name) => {
				if (!this.#isClosed && (name === null || names.includes(name))) void this.flush();
			});
			this.#watcher.on("error", () => this.#watcher?.close()); // polling continues
		} catch {
			this.#watcher = undefined; // too many watchers, or the directory is gone: polling must do
		}
	}

	#poll(): void {
		this.#cancelPoll = this.#options.clock.after(POLL_MS, () => {
			void this.flush();
			this.#poll();
		});
	}

	async #look(): Promise<void> {
		if (this.#isClosed) return;
		try {
			const file = await openPlain(this.#path);
			try {
				await this.#readOn(file);
			} finally {
				await file.close();
			}
		} catch (error) {
			if (codeOf(error) !== "ENOENT") this.#complain(messageOf(error));
		}
		if (!this.#isClosed) this.#options.onQuiet?.();
	}

	/** Once: the file may be readable at the next look. */
	#complain(why: string): void {
		if (!this.#hasComplained) this.#options.report(`${this.#path} cannot be read: ${why}`);
		this.#hasComplained = true;
	}

	/** The file was truncated. New lines come after its present end, or its writer starts over; half a line is dropped. */
	#skipTo(size: number): void {
		this.#splitter.push(LF);
		this.#position = this.#options.startsOver ? 0 : size;
		if (!this.#options.startsOver)
			this.#options.report(`${this.#path} was truncated: some of its lines may not have been read.`);
	}

	/** Up to the present end: a file that grows faster than it is read would never finish. */
	async #readOn(file: FileHandle): Promise<void> {
		const { maxBytes = MAX_GROWING_BYTES } = this.#options;
		const { size: length } = await file.stat();
		if (length > maxBytes)
			this.#complain(`it is larger than ${Math.round(maxBytes / 1024 / 1024)} MB; the rest is not read`);
		const size = Math.min(length, maxBytes);
		if (size < this.#position) this.#skipTo(size);
		while (!this.#isClosed && this.#position < size) {
			const length = Math.min(CHUNK_BYTES, size - this.#position);
			const { bytesRead } = await file.read(this.#chunk, 0, length, this.#position);
			if (bytesRead === 0) return;
			this.#position += bytesRead;
			this.#splitter.push(this.#chunk.subarray(0, bytesRead));
		}
	}
}
