/** The dialogs of the menu, independent of how they are shown: in the TUI or by an RPC client. Types only. */
import type { Block, Cell } from "./layout.ts";

/** A list item. The screen sanitizes and clips its texts. */
export interface Item {
	value: string;
	label: string;
	/** Branches that lead to it in a list with levels, such as `│ └ `. Left out while the list is filtered. */
	branch?: string;
	/** One character before the label. */
	mark?: Cell;
	/** A word or two beside the label. */
	tag?: Cell;
	/** Takes the remaining width. */
	about?: string;
	/** In a column of its own before the right edge. */
	figure?: string;
	/** At the right edge. */
	end?: string;
	/** Details, shown while it is selected. */
	note?: string;
}

export interface Choice {
	title: string;
	intro?: string | undefined;
	/** Called again every second if the list is live. */
	items: () => readonly Item[];
	isLive?: boolean;
	/** Whether typing narrows the list; with `keys`, whether `/` does. */
	isSearchable?: boolean;
	/** What Enter does; by default "choose". */
	enter?: string;
	/** Characters that act on the selected item. `?` shows them all. */
	keys?: readonly ItemKey[];
	/** Shown in place of an empty list. */
	empty?: string;
	/** The value selected at first. */
	selected?: string | undefined;
}

export interface ItemKey {
	key: string;
	/** What it does, in a word or two. */
	does: string;
	/** The same in a few more words, for the help. */
	help?: string;
	isOffered: (value: string) => boolean;
}

/** The item and the key that was pressed; no key for Enter. */
export interface Picked {
	value: string;
	key?: string;
}

export interface Question {
	title: string;
	intro?: string | undefined;
	/** The initial text. */
	value?: string | undefined;
	/** The error of the previous answer. */
	fault?: string | undefined;
}

export interface Decision {
	title: string;
	intro: string;
	yes: string;
	/** The safe choice, which is selected at first. */
	no: string;
}

/** Going back resolves with `undefined`, or false. */
export interface Screen {
	choose(choice: Choice): Promise<string | undefined>;
	/** For a list with keys. Where there is no keyboard, an item is chosen without one. */
	pick(choice: Choice): Promise<Picked | undefined>;
	input(question: Question): Promise<string | undefined>;
	confirm(decision: Decision): Promise<boolean>;
	/** A multi-line text, in pi's editor. */
	edit(title: string, text: string): Promise<string | undefined>;
	/** Shows a text. */
	read(title: string, blocks: readonly Block[]): Promise<void>;
	/** Shows the progress of `work` until it is done. The signal aborts when the user cancels. */
	busy<Result>(title: string, work: Work<Result>): Promise<Result>;
	/** Copies a text to the clipboard and confirms it. */
	copy(text: string): Promise<void>;
	/** Runs `work`, which shows one dialog after the other: keys between two of them do not reach pi's editor. */
	inSequence<Result>(work: () => Promise<Result>): Promise<Result>;
	notify(text: string, level?: "info" | "warning" | "error"): void;
}

export type Work<Result> = (signal: AbortSignal, onProgress: (lines: readonly string[]) => void) => Promise<Result>;
