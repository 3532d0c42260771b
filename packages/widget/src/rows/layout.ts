/** A frame as plain data: the meaning of each line, without glyphs or colours. */
import type { Counts } from "../tree/counts.ts";

/** How a frame is drawn. `auto` becomes one of the others. */
export type Mode = "auto" | "rich" | "compact" | "focused";

export interface Layout {
	readonly mode: Exclude<Mode, "auto">;
	readonly width: number;
	readonly rows: readonly Row[];
	/** How many agents have a row. */
	readonly shown: number;
	/** The others. */
	readonly hidden: Counts;
}

export interface Row {
	/** `hidden` counts agents that have no row; `group` is the heading of a phase, or of agents whose parent is unknown. */
	readonly role: "header" | "agent" | "detail" | "hidden" | "group";
	/** The agent of the row. */
	readonly id?: string;
	readonly icon?: Icon;
	/** The frame of the spinner, not wrapped. */
	readonly frame?: number;
	/** For each ancestor level, from the top: whether a connector passes through this row. */
	readonly rails: readonly boolean[];
	/** Outer levels were cropped, because the row is too deep for the width. */
	readonly isCropped?: boolean;
	/** The last of its level. */
	readonly isLast: boolean;
	/** The agents that a `hidden` row counts. */
	readonly counts?: Counts;
	readonly segments: readonly Segment[];
}

export interface Segment {
	readonly tone: Tone;
	/** Sanitized and fitted. */
	readonly text: string;
	/** Between it and the previous segment. */
	readonly separator: Separator;
}

export type Separator = "" | " " | " · ";

/** A status, the session, agents of which none is active, or agents whose parent is unknown. */
export type Icon = "session" | "done" | "queued" | "running" | "waiting" | "completed" | "failed" | "aborted" | "lost";

/** What a piece of text means; a theme gives each a colour. */
export type Tone =
	| Icon
	/** Connectors and separators. */
	| "line"
	| "title"
	| "counts"
	| "type"
	| "description"
	/** The text of an inactive agent. */
	| "quiet"
	/** The focused agent. */
	| "focus"
	| "model"
	| "activity"
	| "question"
	| "figures"
	| "note"
	| "attention"
	| "alarm";
