/**
 * A file that a run appends to. It may not be writable, or the disk may be full: that is said once, and nothing else
 * suffers. Synchronous, so that what was written is there for others before anything follows from it.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { messageOf, type Report } from "../../best-effort.ts";

export interface GrowingFileOptions {
	path: string;
	/** Hears once that something is missing from the file, and why. */
	onLost: Report;
	/** What does not fit any more is left out. */
	maxBytes?: number;
}

export class GrowingFile {
	readonly #options: GrowingFileOptions;
	#descriptor: number | undefined;
	#bytes = 0;
	#hasLost = false;
	/** The file may end with half a line. */
	#isTorn = false;

	constructor(options: GrowingFileOptions) {
		this.#options = options;
	}

	/** Whether all of it was written. Tried anew each time: space may become free again. */
	append(data: string | Uint8Array): boolean {
		const bytes = typeof data === "string" ? Buffer.from(data) : data;
		const { path, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#bytes + bytes.length > maxBytes) {
			this.#lose(`only the first ${Math.round(maxBytes / 1024 / 1024)} MB are kept`);
			this.#bytes = Number.POSITIVE_INFINITY; // a smaller piece that would fit would be out of place
			return false;
		}
		try {
			this.#descriptor ??= openSync(path, "a", 0o600);
			this.#write(this.#descriptor, this.#isTorn ? Buffer.concat([LF, bytes]) : bytes);
			return true;
		} catch (error) {
			this.#lose(messageOf(error));
			return false;
		}
	}

	close(): void {
		if (this.#descriptor !== undefined) closeSync(this.#descriptor);
		this.#descriptor = undefined;
	}

	#write(descriptor: number, bytes: Uint8Array): void {
		let written = 0;
		try {
			while (written < bytes.length) written += writeSync(descriptor, bytes, written);
			this.#isTorn = false;
		} catch (error) {
			this.#isTorn ||= written > 0;
			throw error;
		} finally {
			this.#bytes += written;
		}
	}

	#lose(why: string): void {
		if (this.#hasLost) return;
		this.#hasLost = true;
		this.#options.onLost(`${basename(this.#options.path)}: ${why}`);
	}
}

const LF = Buffer.from("\n");
