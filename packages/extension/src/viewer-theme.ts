/** The viewer in pi's colours, dark or light. */
import { getMarkdownTheme, type Theme, type ThemeColor } from "@earendil-works/pi-coding-agent";
import type { ViewerTheme } from "@pi-subagents/widget";

export function viewerTheme(theme: Theme): ViewerTheme {
	const fg = (colour: ThemeColor) => (text: string) => theme.fg(colour, text);
	return {
		text: fg("text"),
		told: fg("userMessageText"),
		thinking: (text) => theme.italic(theme.fg("thinkingText", text)),
		toolTitle: (text) => theme.bold(theme.fg("toolTitle", text)),
		toolOutput: fg("toolOutput"),
		muted: fg("muted"),
		dim: fg("dim"),
		accent: fg("accent"),
		warning: fg("warning"),
		error: fg("error"),
		border: fg("borderMuted"),
		thumb: fg("accent"),
		match: (text) => theme.bg("selectedBg", theme.underline(text)),
		currentMatch: (text) => theme.inverse(theme.fg("warning", text)),
		markdown: getMarkdownTheme(),
	};
}
