/**
 * What a child and its model said to each other, for those who look at it. A port: a transcript may be long and may
 * still grow, so it is read in windows and nobody holds all of it.
 */

export interface Transcript {
	/** How many entries there are. */
	readonly length: number;
	/** The entries from this one on, fewer at the end. */
	read(from: number, count: number): Promise<TranscriptEntry[]>;
	/** Hears the new length when entries were added; a smaller one means that it begins anew. Returns the way to stop. */
	onAppend(listener: (length: number) => void): () => void;
}

/** Plain JSON. */
export type TranscriptEntry =
	/** A message in pi's own format: its task, its answers, its tools' results. */
	| { type: "message"; timestamp?: string; message: Readonly<Record<string, unknown>> }
	/** Everything before was shortened to this. */
	| { type: "compaction"; timestamp?: string; summary: string }
	/** Something is here that cannot be shown: broken, or longer than anyone should read. */
	| { type: "unreadable"; bytes: number };
