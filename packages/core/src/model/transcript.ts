/**
 * A child's conversation, for viewers. A port: a transcript may be long and still grow, so it is read in windows and
 * never held whole.
 */

export interface Transcript {
	/** How many entries there are. */
	readonly length: number;
	/** Up to `count` entries from this index. */
	read(from: number, count: number): Promise<TranscriptEntry[]>;
	/**
	 * Called with the new length when entries were added; a smaller one means that it starts over. Returns a function
	 * that unsubscribes.
	 */
	onAppend(listener: (length: number) => void): () => void;
}

/** Plain JSON. */
export type TranscriptEntry =
	/** A message in pi's own format: its task, its answers, its tools' results. */
	| { type: "message"; timestamp?: string; message: Readonly<Record<string, unknown>> }
	/** Everything before was summarized. */
	| { type: "compaction"; timestamp?: string; summary: string }
	/** An entry that cannot be shown: broken or too long. */
	| { type: "unreadable"; bytes: number };
