/** One line of the screen before it is framed, and the arithmetic of columns. A line that is too wide would end pi. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

export interface Row {
	/** What stands before the text: a mark, a bar, an indentation. It is never searched. */
	lead: string;
	text: string;
}

/** For text without colours. Unlike pi's own it adds no reset, which would end the colours around it. */
export function clip(text: string, width: number): string {
	if (width <= 0) return "";
	return visibleWidth(text) <= width ? text : truncateToWidth(text, width, "…").replaceAll("\u001b[0m", "");
}

/** Exactly `width` columns: cut or filled up. */
export function fill(line: string, width: number): string {
	const columns = visibleWidth(line);
	if (columns === width) return line;
	if (columns < width) return line + " ".repeat(width - columns);
	const cut = width > 0 ? truncateToWidth(line, width, "") : "";
	return cut + " ".repeat(Math.max(0, width - visibleWidth(cut))); // half of a wide character is not drawn
}
