/** One line of the screen before it is framed. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

export interface Row {
	/** The prefix: a mark, a bar or an indentation. It is not searched. */
	lead: string;
	text: string;
}

/** Exactly `width` columns: cut or padded. */
export function fill(line: string, width: number): string {
	const columns = visibleWidth(line);
	if (columns === width) return line;
	if (columns < width) return line + " ".repeat(width - columns);
	const cut = width > 0 ? truncateToWidth(line, width, "") : "";
	return cut + " ".repeat(Math.max(0, width - visibleWidth(cut))); // a wide character is never split
}
