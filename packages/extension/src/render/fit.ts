/** Keeps what we draw within the terminal: one line that is too wide would end pi. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** For plain text. Unlike pi's own it adds no reset, which would also end the background around it. */
export function clip(text: string, width: number): string {
	if (width <= 0) return "";
	return visibleWidth(text) <= width ? text : truncateToWidth(text, width, "…").replaceAll("\u001b[0m", "");
}

/** The last word on lines that others have laid out: at the smallest widths their margins alone are too wide. */
export function within(width: number, lines: readonly string[]): string[] {
	return lines.map((line) => (visibleWidth(line) <= width ? line : truncateToWidth(line, Math.max(0, width), "")));
}
