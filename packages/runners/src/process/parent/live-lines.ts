/** Watches what the child of another process is writing: asks its wrapper for `live.jsonl`, and reads it. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock, PieceListener } from "@pi-subagents/core";
import { followLines, type LineFollower } from "@pi-subagents/core/internal/files";
import { RUN_FILES } from "@pi-subagents/runs";
import type { ControlLine } from "@pi-subagents/runs/internal";
import { parseLive } from "@pi-subagents/runs/internal";

export interface LiveLinesOptions {
	/** The directory of the run's files. It stays pending or rejects if there will be none. */
	dir: Promise<string>;
	clock: Clock;
	send: (line: ControlLine) => void;
}

export class LiveLines {
	readonly #options: LiveLinesOptions;
	readonly #listeners = new Set<PieceListener>();
	#id: string | undefined;
	#lines: LineFollower | undefined;

	constructor(options: LiveLinesOptions) {
		this.#options = options;
	}

	get isWatched(): boolean {
		return this.#id !== undefined;
	}

	watch(onPiece: PieceListener): () => void {
		const listener: PieceListener = (piece) => onPiece(piece);
		this.#listeners.add(listener);
		if (this.#id === undefined) this.#begin();
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0 && this.#id !== undefined) {
				this.close();
				this.#options.send({ type: "watch" });
			}
		};
	}

	/** Without a word to the wrapper. */
	close(): void {
		this.#id = undefined;
		this.#lines?.close();
		this.#lines = undefined;
	}

	#begin(): void {
		const { dir, clock, send } = this.#options;
		const id = randomUUID();
		this.#id = id;
		send({ type: "watch", id });
		const follow = (path: string) => {
			if (this.#id !== id) return;
			const report = () => undefined; // the whole text is in the event that follows
			this.#lines = followLines(join(path, RUN_FILES.live), (line) => this.#hear(line), {
				clock,
				report,
				startsOver: true,
			});
		};
		dir.then(follow, () => undefined); // without a directory there is no child
	}

	#hear(text: string): void {
		const line = parseLive(text);
		if (!line || line.for !== this.#id) return;
		const { for: _id, ...piece } = line;
		for (const listener of this.#listeners) listener(piece);
	}
}
