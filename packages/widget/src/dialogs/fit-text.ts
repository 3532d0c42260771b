/** Keeps lines within the terminal width: a line that is too wide crashes pi. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** For plain text. Unlike pi's own, it adds no reset, which would also end the surrounding colours. */
export function clip(text: string, width: number): string {
	if (width <= 0) return "";
	return visibleWidth(text) <= width ? text : truncateToWidth(text, width, "…").replaceAll("\u001b[0m", "");
}

/** A final guard for laid out lines: at tiny widths their margins alone are too wide. */
export function within(width: number, lines: readonly string[]): string[] {
	return lines.map((line) => (visibleWidth(line) <= width ? line : truncateToWidth(line, Math.max(0, width), "")));
}
