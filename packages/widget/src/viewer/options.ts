/** What the viewer is given. Everything that it may do to an agent, or read of one, comes from here. */
import type { ViewerKeys } from "./keys.ts";
import type { ConversationSource } from "./source.ts";
import type { ViewerTheme } from "./theme.ts";

/** An agent that can be gone to from this one. */
export interface Relative {
	id: string;
	relation: "parent" | "child";
	/** What is shown of it. */
	label: string;
}

/** What an agent asked. */
export interface ViewerQuestion {
	text: string;
	/** Tells it from another one with the same text. */
	id?: unknown;
}

/**
 * What a person may do. One that is absent is not offered. A text that is returned is shown; so is the message of an
 * error that is thrown.
 */
export interface ViewerActions {
	steer?: (text: string) => Said;
	/** Asked for twice before it is called. */
	stop?: () => Said;
	/** Offered while there is a question. It comes with the one that was on the screen, which may be over by now. */
	answer?: (text: string, question: ViewerQuestion) => Said;
	copyPath?: () => Said;
	/** Goes to another agent. */
	open?: (id: string) => Said;
}

type Said = string | undefined | Promise<string | undefined>;

export interface ViewerOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	keys: ViewerKeys;
	/** How many lines it may take; asked at every frame. */
	rows: () => number;
	/** Whose conversation it is; in the upper border. */
	title?: string;
	/** What stands above the conversation, at this width. */
	head?: (width: number) => readonly string[];
	/** Whether the agent may still say something. */
	isLive: () => boolean;
	/** What it asked, while it waits for the answer. */
	question?: () => ViewerQuestion | undefined;
	/** What to say while there is nothing to show. */
	empty?: () => string;
	relatives?: () => readonly Relative[];
	actions?: ViewerActions;
	requestRender: () => void;
	close: () => void;
}
