/** The viewer's colours as functions over text: pi's theme, or identity functions in tests. */
import type { MarkdownTheme } from "@earendil-works/pi-tui";

/** Each colours a text. None may change its width. */
export interface ViewerTheme {
	text: Paint;
	/** Messages to the agent. */
	userText: Paint;
	thinking: Paint;
	toolTitle: Paint;
	toolOutput: Paint;
	muted: Paint;
	dim: Paint;
	accent: Paint;
	warning: Paint;
	error: Paint;
	border: Paint;
	thumb: Paint;
	match: Paint;
	currentMatch: Paint;
	markdown: MarkdownTheme;
}

export type Paint = (text: string) => string;
