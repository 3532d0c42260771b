/**
 * A file that a run appends to, up to a maximum. If it cannot be written, that is reported once and nothing else fails.
 */
import { basename } from "node:path";
import { messageOf, type Report } from "../base/best-effort.ts";
import { LineFile, type LineOptions } from "./line-file.ts";

export interface GrowingFileOptions extends LineOptions {
	path: string;
	/** Called once when something is missing from the file, with the reason. */
	onLost: Report;
	/** What exceeds this is left out. */
	maxBytes?: number;
}

export class GrowingFile {
	readonly #options: GrowingFileOptions;
	readonly #file: LineFile;
	/** What was written. */
	#bytes = 0;
	#hasLost = false;

	constructor(options: GrowingFileOptions) {
		this.#options = options;
		this.#file = new LineFile(options.path, options);
	}

	/** Whether all of it was written. Tried again each time: space may become free. */
	append(data: string | Uint8Array): boolean {
		const bytes = typeof data === "string" ? Buffer.from(data) : data;
		const { maxBytes = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#bytes + bytes.length > maxBytes) {
			this.#lose(`only the first ${Math.round(maxBytes / 1024 / 1024)} MB are kept`);
			this.#bytes = Number.POSITIVE_INFINITY; // later pieces would be out of order
			return false;
		}
		try {
			this.#file.append(bytes);
			this.#bytes += bytes.length;
			return true;
		} catch (error) {
			this.#lose(messageOf(error));
			return false;
		}
	}

	close(): void {
		this.#file.close();
	}

	#lose(why: string): void {
		if (this.#hasLost) return;
		this.#hasLost = true;
		this.#options.onLost(`${basename(this.#options.path)}: ${why}`);
	}
}
