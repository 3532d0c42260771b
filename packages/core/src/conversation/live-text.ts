/**
 * Splits what a child writes into pieces, and is the only throttle for them: at most four a second for a growing block,
 * its end at once. Does nothing while no one watches.
 */
import { type BlockDelta, blockDelta } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import { Pacer } from "../base/pacer.ts";
import { isObject } from "../base/values.ts";
import type { LivePiece, PieceListener } from "../model/live-piece.ts";

const PAUSE_MS = 250;
/** More than a model writes in that time. What exceeds it is left out. */
const MAX_PIECE_LENGTH = 64 * 1024;

interface OpenBlock extends Pick<LivePiece, "block" | "kind" | "offset"> {
	/** Its place in the message. */
	index: number;
	/** Otherwise what is known of it begins somewhere. */
	sawStart: boolean;
	/** Not sent yet. */
	pending: string;
}

export class LiveText {
	readonly #listeners = new Set<PieceListener>();
	#open: OpenBlock | undefined;
	#blocks = 0;
	/** The places of the blocks of this message that were sent. */
	readonly #seen = new Set<number>();
	readonly #pacer: Pacer;

	constructor(clock: Clock) {
		this.#pacer = new Pacer({ clock, pauseMs: PAUSE_MS, isPrompt: true, work: () => this.#emit({}) });
	}

	get isWatched(): boolean {
		return this.#listeners.size > 0;
	}

	/** Returns a function that ends it. A watcher that comes in the middle of a block may miss its beginning. */
	watch(onPiece: PieceListener): () => void {
		const listener: PieceListener = (piece) => onPiece(piece); // the same function may watch twice
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			if (!this.isWatched) this.#forget();
		};
	}

	/** Hears every event of pi, in order. */
	hear(raw: unknown): void {
		if (!this.isWatched || !isObject(raw)) return;
		if (raw.type === "message_end") return void this.#endMessage();
		const delta = blockDelta(raw);
		if (!delta || this.#isLateEnd(delta)) return;
		this.#add(delta);
		if (delta.whole !== undefined) this.#end();
		else if (this.#open?.pending) this.#pacer.ask();
	}

	/** The child writes no more. */
	close(): void {
		this.#end();
		this.#listeners.clear();
	}

	/** Some providers end all blocks of a message together; ours ended when the next one began. */
	#isLateEnd({ whole, index }: BlockDelta): boolean {
		return whole !== undefined && this.#open?.index !== index && this.#seen.has(index);
	}

	#add({ kind, index, text, isStart, whole }: BlockDelta): void {
		if (isStart || kind !== this.#open?.kind || index !== this.#open.index) {
			this.#end();
			// One that begins with its end was not streamed.
			const sawStart = isStart === true || whole !== undefined;
			this.#seen.add(index);
			this.#open = { block: this.#blocks++, kind, index, sawStart, offset: 0, pending: "" };
		}
		const open = this.#open;
		open.pending += text;
		// Some providers do not stream all of a block.
		if (whole !== undefined && open.sawStart) open.pending += whole.slice(open.offset + open.pending.length);
	}

	#end(): void {
		if (this.#open) this.#emit({ isFinal: true });
		this.#open = undefined;
	}

	#endMessage(): void {
		this.#end();
		this.#seen.clear();
	}

	#emit(last: Pick<LivePiece, "isFinal">): void {
		const open = this.#open;
		if (!open) return; // then nothing waits
		this.#pacer.skip();
		const { block, kind, offset, pending } = open;
		open.offset += pending.length;
		open.pending = "";
		const piece: LivePiece = { block, kind, offset, text: pending.slice(0, MAX_PIECE_LENGTH), ...last };
		for (const listener of this.#listeners) listener(piece);
	}

	#forget(): void {
		this.#pacer.cancel();
		this.#open = undefined;
	}
}
