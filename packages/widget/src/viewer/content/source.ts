/** A conversation that may be long and still growing, read in windows. */

/** For example `Transcript` of `@pi-subagents/core`. */
export interface ConversationSource {
	/** How many entries there are. */
	readonly length: number;
	/** At most `count` entries from this index on. */
	read(from: number, count: number): Promise<readonly ConversationEntry[]>;
	/** Calls the listener with the new length; a smaller one means that the conversation starts over. Returns an unsubscribe function. */
	onAppend(listener: (length: number) => void): () => void;
}

export type ConversationEntry =
	/** A message in pi's own format. */
	| { type: "message"; timestamp?: string; message: Readonly<Record<string, unknown>> }
	/** Everything before was compacted to this. */
	| { type: "compaction"; timestamp?: string; summary: string }
	/** An entry that cannot be shown. */
	| { type: "unreadable"; bytes: number }
	/** The command that checks the agent's work did not accept it: which and how, and the end of what it printed. */
	| { type: "check"; line: string; output: string }
	/** One line of progress, when there is no conversation. */
	| { type: "progress"; text: string };
