/**
 * The beginning of a text, in a few lines of the screen. A paragraph can be as long as an answer, and pi goes through
 * all lines of all rows for every frame, so it is lines on the screen that count.
 */
import { keyHint, type Theme } from "@earendil-works/pi-coding-agent";
import { type Component, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { formatCount } from "@pi-subagents/progress";

const LINES_SHOWN = 6;

export function folded(text: string, theme: Theme): Component {
	let drawn: { width: number; lines: string[] } | undefined;
	return {
		invalidate() {
			drawn = undefined;
		},
		render(width) {
			if (drawn?.width !== width) drawn = { width, lines: beginning(text, Math.max(1, width), theme) };
			return drawn.lines;
		},
	};
}

function beginning(text: string, width: number, theme: Theme): string[] {
	const lines = firstLines(text, width, LINES_SHOWN);
	const shown = lines.slice(0, LINES_SHOWN).map((line) => theme.fg("toolOutput", line));
	if (lines.length <= LINES_SHOWN) return shown;
	const hidden = Math.max(1, linesIn(text, width) - LINES_SHOWN);
	const more = theme.fg("muted", `… ${formatCount(hidden, "more line")}, `);
	return [...shown, ...wrapTextWithAnsi(`${more}${keyHint("app.tools.expand", "to expand")}`, width)];
}

/** All of them, or more than `most`: so many letters of one column fill them, and the rest is not looked at. */
export function firstLines(text: string, width: number, most: number): string[] {
	if (text.trim() === "") return [];
	const few = text
		.split("\n", most + 1)
		.join("\n")
		.slice(0, (most + 1) * width);
	const lines = wrapTextWithAnsi(few, width);
	return lines.length > most || few.length === text.length ? lines : wrapTextWithAnsi(text, width);
}

/** As many as letters of one column need: it only says how much there is. */
function linesIn(text: string, width: number): number {
	let count = 0;
	for (const { length } of text.split("\n")) count += Math.max(1, Math.ceil(length / width));
	return count;
}
