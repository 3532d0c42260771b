/** Fits the pieces of a line into a width: optional ones are dropped, long ones are shortened. Pure. */
import type { Segment, Separator, Tone } from "./layout.ts";
import type { Text } from "./text.ts";

export interface Piece {
	readonly tone: Tone;
	readonly text: Text;
	readonly separator: Separator;
	/** Maximum columns. */
	readonly max?: number;
	/** It may be shortened; before it gets shorter than this, other pieces are dropped. */
	readonly min?: number;
	/** It may be dropped; the highest number goes first. */
	readonly dropOrder?: number;
}

export function fitPieces(pieces: readonly Piece[], width: number): Segment[] {
	const kept = pieces.filter(({ text }) => text.width > 0);
	let needed = widthOf(kept, fullWidth);
	while (needed > width && widthOf(kept, minWidth) > width && dropOne(kept)) needed = widthOf(kept, fullWidth);
	return needed <= width ? kept.map(whole) : shortened(kept, width);
}

function whole(piece: Piece, at: number): Segment {
	return { tone: piece.tone, text: piece.text.cut(fullWidth(piece)), separator: at === 0 ? "" : piece.separator };
}

function fullWidth({ text, max }: Piece): number {
	return max === undefined ? text.width : Math.min(text.width, max);
}

function minWidth(piece: Piece): number {
	return piece.min === undefined ? fullWidth(piece) : Math.min(fullWidth(piece), piece.min);
}

function widthOf(pieces: readonly Piece[], of: (piece: Piece) => number): number {
	let width = 0;
	for (const [at, piece] of pieces.entries()) width += (at === 0 ? 0 : piece.separator.length) + of(piece);
	return width;
}

/** False when no piece may be dropped. */
function dropOne(pieces: Piece[]): boolean {
	let at = -1;
	for (const [index, { dropOrder }] of pieces.entries()) {
		if (dropOrder !== undefined && dropOrder >= (pieces[at]?.dropOrder ?? 0)) at = index;
	}
	if (at >= 0) pieces.splice(at, 1);
	return at >= 0;
}

function shortened(pieces: readonly Piece[], width: number): Segment[] {
	const shares = sharesOf(pieces, width);
	const segments: Segment[] = [];
	let left = width;
	for (const piece of pieces) {
		const separator = segments.length === 0 ? "" : piece.separator;
		const share = Math.min(shares.get(piece) ?? fullWidth(piece), left - separator.length);
		const text = piece.text.cut(share);
		if (text === "") continue;
		segments.push({ tone: piece.tone, text, separator });
		left -= separator.length + share;
	}
	return segments;
}

/** Every piece gets its minimum; the remaining columns are shared by those that want more. */
function sharesOf(pieces: readonly Piece[], width: number): Map<Piece, number> {
	let room = Math.max(0, width - widthOf(pieces, minWidth));
	const wants = (piece: Piece) => fullWidth(piece) - minWidth(piece);
	const wanting = pieces.filter((piece) => wants(piece) > 0).sort((a, b) => wants(a) - wants(b));
	const shares = new Map<Piece, number>();
	for (const [at, piece] of wanting.entries()) {
		const more = Math.min(wants(piece), Math.floor(room / (wanting.length - at)));
		shares.set(piece, minWidth(piece) + more);
		room -= more;
	}
	return shares;
}
