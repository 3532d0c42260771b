/** The viewer's options: everything it may read of an agent or do to it. */

import type { ConversationEntry, ConversationSource } from "./content/source.ts";
import type { ViewerTheme } from "./content/theme.ts";
import type { ViewerKeys } from "./keys.ts";

/** A parent or child that can be opened from here. */
export interface Relative {
	id: string;
	relation: "parent" | "child";
	/** The text in the list. */
	label: string;
}

/** An agent's question. */
export interface ViewerQuestion {
	text: string;
	/** Distinguishes questions with the same text. */
	id?: unknown;
}

/**
 * What the user can do. Absent actions are not offered. A returned text is shown, and so is the message of a thrown
 * error.
 */
export interface ViewerActions {
	steer?: (text: string) => ActionResult;
	/** Called only after the user confirms. */
	stop?: () => ActionResult;
	/** Offered while there is a question. Receives the one that was on the screen, which may be closed by now. */
	answer?: (text: string, question: ViewerQuestion) => ActionResult;
	/** Of a workflow: launch no more agents, or launch them again. */
	pause?: () => ActionResult;
	/** Of an agent of a workflow: its call gives null, or another agent runs. */
	skip?: () => ActionResult;
	retry?: () => ActionResult;
	copyPath?: () => ActionResult;
	open?: (id: string) => ActionResult;
}

type ActionResult = string | undefined | Promise<string | undefined>;

export interface ViewerOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	keys: ViewerKeys;
	/** The number of lines, read for every frame. */
	rows: () => number;
	/** Shown in the top border. */
	title?: string;
	/** The lines above the conversation, for this width. */
	head?: (width: number) => readonly string[];
	/** Whether the agent is still active. */
	isLive: () => boolean;
	/** Its open question, if any. */
	question?: () => ViewerQuestion | undefined;
	/** The message that is being written, shown behind the others while the end is on the screen. */
	writing?: () => ConversationEntry | undefined;
	/** The text for an empty conversation. */
	empty?: () => string;
	relatives?: () => readonly Relative[];
	/** The agents before and after this one in a list of all. */
	neighbours?: () => { previous?: string; next?: string };
	/** Of a workflow that is active: whether it is paused, so that the action `pause` lets it continue. */
	isPaused?: () => boolean;
	actions?: ViewerActions;
	requestRender: () => void;
	close: () => void;
}
