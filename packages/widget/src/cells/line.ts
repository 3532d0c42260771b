/** Lines of cells: what is dropped, what is shortened, what moves to the next line. None is wider than it may be. Pure. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { share } from "./share.ts";
import { measured, type Text } from "./text.ts";

/** A piece of text on a line. Without `max`, `min` and `dropOrder` it is cut only where the line ends. */
export interface Cell {
	readonly text: string | Text;
	/** Between it and the cell before it; two spaces unless given. Every character is one column wide. */
	readonly separator?: string;
	/** Maximum columns. */
	readonly max?: number;
	/** It may be shortened; before it gets shorter than this, other cells are dropped. */
	readonly min?: number;
	/** It may be dropped; the highest number goes first. */
	readonly dropOrder?: number;
	/** Colours the text, once it has its final length. */
	readonly paint?: (text: string) => string;
}

/** A cell that has its place. */
export interface Placed<Kind extends Cell = Cell> {
	readonly cell: Kind;
	/** Cut to its room. */
	readonly text: string;
	/** Empty for the first. */
	readonly separator: string;
}

const GAP = "  ";

/** The cells that a line of this many columns has room for, cut to their share of it. */
export function fitCells<Kind extends Cell>(cells: readonly Kind[], width: number): Placed<Kind>[] {
	const texts = cells.map(({ text }) => measured(text));
	const wants = cells.map(({ separator = GAP, max, min, dropOrder }, at) => {
		return { columns: texts[at]?.width ?? 0, gap: separator.length, max, min, dropOrder };
	});
	const shares = share(wants, width);
	const placed: Placed<Kind>[] = [];
	for (const [at, cell] of cells.entries()) {
		const [text, room = 0] = [texts[at], shares[at]];
		if (!text || room === 0) continue;
		placed.push({ cell, text: text.cut(room), separator: placed.length === 0 ? "" : (cell.separator ?? GAP) });
	}
	return placed;
}

/** The same as a painted line. A separator that can be seen has the colour of the text after it. */
export function lineOf(cells: readonly Cell[], width: number): string {
	const parts = fitCells(cells, width).map(({ cell: { paint }, text, separator }) => {
		if (!paint) return separator + text;
		return (separator.trim() === "" ? separator : paint(separator)) + paint(text);
	});
	return parts.join("");
}

/** As many lines as the cells need, one after the other; each cell is at most as wide as a line. */
export function flow(cells: readonly Cell[], width: number): string[] {
	const lines: Cell[][] = [];
	let taken = 0;
	for (const cell of cells) {
		const text = measured(cell.text);
		if (text.width === 0) continue;
		const beside = taken + (cell.separator ?? GAP).length + text.width;
		const isBeside = lines.length > 0 && beside <= width;
		if (isBeside) lines.at(-1)?.push(cell);
		else lines.push([cell]);
		taken = isBeside ? beside : text.width;
	}
	return lines.map((line) => lineOf(line, width));
}

/** A painted line in exactly `width` columns: cut or padded. A wide character is never split. */
export function fill(line: string, width: number, filler = " "): string {
	const columns = visibleWidth(line);
	if (columns === width) return line;
	const shown = columns < width ? line : cut(line, width);
	return shown + filler.repeat(Math.max(0, Math.floor(width) - visibleWidth(shown)));
}

/** A final guard for painted lines, because pi crashes on one that is too wide: at tiny widths margins alone are. */
export function within(width: number, lines: readonly string[]): string[] {
	return lines.map((line) => (visibleWidth(line) <= width ? line : cut(line, width)));
}

function cut(line: string, width: number): string {
	return width > 0 ? truncateToWidth(line, width, "") : "";
}
