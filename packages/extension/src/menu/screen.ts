/** What the menu asks of a person, whoever shows it: pi's own screen, or a client of pi in RPC mode. Types only. */
import type { Block, Cell } from "../commands/layout.ts";

/** Something to choose. Whatever shows it cleans and clips its texts. */
export interface Item {
	value: string;
	label: string;
	/** One character before the label. */
	mark?: Cell;
	/** A word or two beside the label. */
	tag?: Cell;
	/** Has the room that the others leave. */
	about?: string;
	/** At the right edge. */
	end?: string;
	/** More about it, for as long as it is the one that Enter would choose. */
	note?: string;
}

export interface Choice {
	title: string;
	intro?: string | undefined;
	/** Asked again every second where the list is live. */
	items: () => readonly Item[];
	isLive?: boolean;
	/** Whether typing narrows the list. */
	isSearchable?: boolean;
	/** What to say in place of an empty list. */
	empty?: string;
	/** The value to begin at. */
	selected?: string | undefined;
}

export interface Question {
	title: string;
	intro?: string | undefined;
	/** What is there to begin with. */
	value?: string | undefined;
	/** What was wrong with the answer before. */
	fault?: string | undefined;
}

export interface Decision {
	title: string;
	intro: string;
	yes: string;
	no: string;
}

/** Who goes back instead of answering gives `undefined`, or no. */
export interface Screen {
	choose(choice: Choice): Promise<string | undefined>;
	input(question: Question): Promise<string | undefined>;
	confirm(decision: Decision): Promise<boolean>;
	/** A text of several lines, in the editor that pi offers. */
	edit(title: string, text: string): Promise<string | undefined>;
	/** Something to read. */
	read(title: string, blocks: readonly Block[]): Promise<void>;
	/** Shows what `work` tells until it is done. The signal says that the person does not want to wait any longer. */
	busy<Result>(title: string, work: Work<Result>): Promise<Result>;
	/** Puts a text where it can be pasted from, and says so. */
	copy(text: string): Promise<void>;
	notify(text: string, level?: "info" | "warning" | "error"): void;
}

export type Work<Result> = (signal: AbortSignal, tell: (lines: readonly string[]) => void) => Promise<Result>;
