/** The pieces of a row: cells with a meaning in place of a colour. */
import { type Cell, fitCells } from "../cells/line.ts";
import type { Text } from "../cells/text.ts";
import type { Segment, Separator, Tone } from "./layout.ts";

export interface Piece extends Cell {
	readonly tone: Tone;
	readonly text: Text;
	readonly separator: Separator;
}

/** At most `width` columns. */
export function fitPieces(pieces: readonly Piece[], width: number): Segment[] {
	return fitCells(pieces, width).map(({ cell: { tone, separator }, text }, at) => ({
		tone,
		text,
		separator: at === 0 ? "" : separator,
	}));
}
