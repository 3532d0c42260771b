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

/** The part of pi's theme that is used. */
export interface PiViewerTheme {
	fg(color: PiColor, text: string): string;
	bg(color: "selectedBg", text: string): string;
	bold(text: string): string;
	italic(text: string): string;
	underline(text: string): string;
	inverse(text: string): string;
}

type PiColor =
	| "text"
	| "userMessageText"
	| "thinkingText"
	| "toolTitle"
	| "toolOutput"
	| "muted"
	| "dim"
	| "accent"
	| "warning"
	| "error"
	| "borderMuted";

/** pi's colours, dark or light: pass the theme that pi gives to components, and its theme for markdown. */
export function viewerTheme(pi: PiViewerTheme, markdown: MarkdownTheme): ViewerTheme {
	const fg = (color: PiColor) => (text: string) => pi.fg(color, text);
	return {
		text: fg("text"),
		userText: fg("userMessageText"),
		thinking: (text) => pi.italic(pi.fg("thinkingText", text)),
		toolTitle: (text) => pi.bold(pi.fg("toolTitle", text)),
		toolOutput: fg("toolOutput"),
		muted: fg("muted"),
		dim: fg("dim"),
		accent: fg("accent"),
		warning: fg("warning"),
		error: fg("error"),
		border: fg("borderMuted"),
		thumb: fg("accent"),
		match: (text) => pi.bg("selectedBg", pi.underline(text)),
		currentMatch: (text) => pi.inverse(pi.fg("warning", text)),
		markdown,
	};
}
