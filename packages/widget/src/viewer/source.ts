/** What the viewer shows: a conversation that may be long and may still grow, read in windows. */

/** `Transcript` of `@pi-subagents/core` is one. */
export interface ConversationSource {
	/** How many entries there are. */
	readonly length: number;
	/** The entries from this one on, fewer at the end. */
	read(from: number, count: number): Promise<readonly ConversationEntry[]>;
	/** Hears the new length when entries were added; a smaller one means that it begins anew. Returns the way to stop. */
	onAppend(listener: (length: number) => void): () => void;
}

export type ConversationEntry =
	/** A message in pi's own format. */
	| { type: "message"; timestamp?: string; message: Readonly<Record<string, unknown>> }
	/** Everything before was shortened to this. */
	| { type: "compaction"; timestamp?: string; summary: string }
	/** Something is here that cannot be shown. */
	| { type: "unreadable"; bytes: number }
	/** One line of what it is doing, where nothing better is known. */
	| { type: "progress"; text: string };
