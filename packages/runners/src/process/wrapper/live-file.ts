/**
 * `live.jsonl`: what the child is writing, for an owner that asked for it. The file starts over when it gets long and
 * is deleted with the last watch. Nothing depends on it, so an error only ends the watch.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LivePiece, Report } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { LineFile } from "@pi-subagents/core/internal/files";
import type { LiveText } from "@pi-subagents/core/internal/run";
import { RUN_FILES } from "@pi-subagents/runs";
import type { LiveLine } from "@pi-subagents/runs/internal";

export interface LiveFileOptions {
	dir: string;
	live: LiveText;
	/** Whether the owner still exists. */
	isWatched: () => Promise<boolean>;
	report: Report;
}

const MAX_BYTES = 256 * 1024;

export class LiveFile {
	readonly #options: LiveFileOptions;
	readonly #path: string;
	/** While it is written. */
	#file: LineFile | undefined;
	#bytes = 0;
	#stop: (() => void) | undefined;

	constructor(options: LiveFileOptions) {
		this.#options = options;
		this.#path = join(options.dir, RUN_FILES.live);
	}

	/** Writes for this watch from now on; without an id, for none. */
	watch(id: string | undefined): void {
		this.#stop?.();
		this.#stop = id === undefined ? undefined : this.#options.live.watch((piece) => this.#write(id, piece));
		if (id === undefined) this.#attempt(() => this.#remove());
		else this.#attempt(() => this.#startOver());
	}

	close(): void {
		this.watch(undefined);
	}

	#write(id: string, piece: LivePiece): void {
		const line: LiveLine = { for: id, ...piece };
		const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
		this.#attempt(() => {
			if (this.#bytes + bytes.length > MAX_BYTES) {
				this.#startOver();
				void this.#endWithoutOwner();
			}
			if (!this.#file) return;
			this.#file.append(bytes);
			this.#bytes += bytes.length;
		});
	}

	#startOver(): void {
		this.#file ??= new LineFile(this.#path, { durable: false });
		this.#file.startOver();
		this.#bytes = 0;
	}

	/** An owner that died did not say that it stopped watching. */
	async #endWithoutOwner(): Promise<void> {
		if (!(await this.#options.isWatched())) this.close();
	}

	#remove(): void {
		if (!this.#file) return;
		const file = this.#file;
		this.#file = undefined;
		file.close();
		rmSync(this.#path, { force: true });
	}

	#attempt(work: () => void): void {
		try {
			work();
		} catch (error) {
			this.#stop?.();
			this.#stop = undefined;
			this.#options.report(`${RUN_FILES.live} is not written any more: ${messageOf(error)}`);
		}
	}
}
