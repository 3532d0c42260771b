/**
 * What a child is writing right now, in pieces, for people who watch. Pieces are not events: no record and no log
 * contains them, and late watchers do not get them.
 */
import type { Run } from "./runner.ts";

/** A part of a text or thinking block. The parts of a block are in order; `offset` shows where one is missing. */
export interface LivePiece {
	/** Tells the blocks of a run apart. */
	block: number;
	kind: "text" | "thinking";
	/** Where the text begins in its block, in UTF-16 code units. */
	offset: number;
	text: string;
	/** No other piece of this block follows. */
	isFinal?: true;
}

/** Must not throw. */
export type PieceListener = (piece: LivePiece) => void;

/** Watches a run that may not have started yet. The returned function ends that. */
export function watchWhenStarted(whenStarted: (say: (run: Run) => void) => void, listener: PieceListener): () => void {
	let stop: (() => void) | undefined;
	let isOver = false;
	whenStarted((run) => {
		if (!isOver) stop = run.watch?.(listener);
	});
	return () => {
		isOver = true;
		stop?.();
	};
}
