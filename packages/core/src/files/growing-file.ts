/**
 * A file that a run appends to. If it cannot be written, that is reported once and nothing else fails. Synchronous,
 * so that other processes see a line before anything follows from it.
 */
import { closeSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { messageOf, type Report } from "../base/best-effort.ts";
import { openPlainSync } from "./plain-file.ts";

export interface GrowingFileOptions {
	path: string;
	/** Called once when something is missing from the file, with the reason. */
	onLost: Report;
	/** What exceeds this is left out. */
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

	/** Whether all of it was written. Tried again each time: space may become free. */
	append(data: string | Uint8Array): boolean {
		const bytes = typeof data === "string" ? Buffer.from(data) : data;
		const { path, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#bytes + bytes.length > maxBytes) {
			this.#lose(`only the first ${Math.round(maxBytes / 1024 / 1024)} MB are kept`);
			this.#bytes = Number.POSITIVE_INFINITY; // later pieces would be out of order
			return false;
		}
		try {
			this.#descriptor ??= openPlainSync(path, { use: "append" });
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
