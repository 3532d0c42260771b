/**
 * Appends lines to a file in the background: in order, in batches, with bounded memory. What cannot be written is
 * left out, and nothing else fails because of it.
 */
import { basename } from "node:path";
import { MAX_LINE_BYTES } from "@pi-subagents/progress";
import type { Report } from "../base/best-effort.ts";
import type { FileThread } from "./file-thread.ts";

export interface AppendLogOptions {
	path: string;
	/** Does the writing. */
	thread: Pick<FileThread, "take">;
	/** Whether the directory exists; without it nothing is written or reported here. */
	hasPlace: Promise<boolean>;
	/** Whether written lines must survive a power failure. */
	durable: boolean;
	/** Called once when something is missing from the file, with the reason. */
	onLost: Report;
}

const MAX_WAITING_BYTES = 2 * MAX_LINE_BYTES;

export class AppendLog {
	readonly #options: AppendLogOptions;
	readonly #lines: string[] = [];
	/** Bytes of the lines that wait or are being written. */
	#bytes = 0;
	#writing: Promise<void> | undefined;
	#hasLost = false;

	constructor(options: AppendLogOptions) {
		this.#options = options;
	}

	/** Never blocks and never throws. */
	add(line: string): void {
		const bytes = Buffer.byteLength(line) + 1;
		if (bytes > MAX_LINE_BYTES) this.#tellOnce(`a line of ${bytes} bytes is too long to be read again`);
		else if (this.#bytes + bytes > MAX_WAITING_BYTES) this.#tellOnce("the disk is too slow");
		else {
			this.#bytes += bytes;
			this.#lines.push(`${line}\n`);
			this.#writing ??= this.#write();
		}
	}

	/** The lines so far, for the caller that creates the file with them; `lose` says that it failed. */
	drain(): string {
		const text = this.#lines.splice(0).join("");
		this.#bytes -= Buffer.byteLength(text);
		return text;
	}

	/** Not all that was to be written is in the file. */
	lose(why: string): void {
		this.#tellOnce(why);
	}

	/** Resolves when all lines are written, or could not be. */
	async flush(): Promise<void> {
		await this.#writing;
	}

	async #write(): Promise<void> {
		const hasPlace = await this.#options.hasPlace;
		while (this.#lines.length > 0) {
			if (hasPlace) await this.#append();
			else this.drain();
		}
		this.#writing = undefined;
	}

	async #append(): Promise<void> {
		const { path, thread, durable } = this.#options;
		let bytes = 0;
		const [fault] = await thread.take(() => {
			const batch = this.#lines.splice(0).join("");
			bytes = Buffer.byteLength(batch);
			return [{ does: "append", path, text: batch, durable }];
		});
		this.#bytes -= bytes;
		if (fault !== undefined) this.lose(fault); // the next batch is tried: space may become free
	}

	#tellOnce(why: string): void {
		if (this.#hasLost) return;
		this.#hasLost = true;
		this.#options.onLost(`${basename(this.#options.path)}: ${why}`);
	}
}
