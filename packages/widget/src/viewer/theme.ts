/** How the viewer looks, as functions over text: those of pi's theme, or none at all in a test. */
import type { MarkdownTheme } from "@earendil-works/pi-tui";

/** Each takes text and gives it back in its colour. None may change its width. */
export interface ViewerTheme {
	text: Paint;
	/** What the agent was told. */
	told: Paint;
	thinking: Paint;
	toolTitle: Paint;
	toolOutput: Paint;
	muted: Paint;
	dim: Paint;
	accent: Paint;
	warning: Paint;
	error: Paint;
	border: Paint;
	/** The part of the scroll bar that stands for the screen. */
	thumb: Paint;
	/** Every place where the searched text is. */
	match: Paint;
	/** The one that was gone to. */
	currentMatch: Paint;
	markdown: MarkdownTheme;
}

export type Paint = (text: string) => string;
