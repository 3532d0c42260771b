/** A frame as plain data: what stands in which line, and what it means. No glyphs, no colours. */
import type { Counts } from "./summary.ts";

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
	/** `hidden` tells how many agents it stands for; `group` is the heading of agents whose parent is unknown. */
	readonly role: "header" | "agent" | "detail" | "hidden" | "group";
	/** The agent that it is about. */
	readonly id?: string;
	readonly icon?: Icon;
	/** Which picture of the spinner, counted without end. */
	readonly frame?: number;
	/** For each level above, from the top: whether a line goes down through this row. */
	readonly rails: readonly boolean[];
	/** Outer levels were left out, because the row is very deep for its width. */
	readonly isCropped?: boolean;
	/** Nothing on its level follows. */
	readonly isLast: boolean;
	/** How many agents a `hidden` row stands for. */
	readonly counts?: Counts;
	readonly segments: readonly Segment[];
}

export interface Segment {
	readonly tone: Tone;
	/** Clean, and short enough. */
	readonly text: string;
	/** What stands between it and the one before. */
	readonly joint: Joint;
}

export type Joint = "" | " " | " · ";

/** Stopped is what a person or the parent did; aborted is what a limit or an accident did. */
export type Icon =
	| "session"
	| "done"
	| "queued"
	| "running"
	| "waiting"
	| "completed"
	| "failed"
	| "stopped"
	| "aborted"
	| "lost";

/** What a piece of text means; a theme gives each a colour. */
export type Tone =
	| Icon
	/** Connectors and separators. */
	| "line"
	| "title"
	| "counts"
	| "type"
	| "description"
	/** The words of an agent that is not at work. */
	| "quiet"
	/** The agent that a focused frame is about. */
	| "focus"
	| "model"
	| "activity"
	| "question"
	| "figures"
	| "note"
	| "attention"
	| "alarm";
