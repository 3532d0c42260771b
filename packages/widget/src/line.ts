/** Puts the pieces of a line into the width there is: the dispensable leave, the long are shortened. Pure. */
import type { Joint, Segment, Tone } from "./layout.ts";
import type { Text } from "./text.ts";

export interface Piece {
	readonly tone: Tone;
	readonly text: Text;
	readonly joint: Joint;
	/** It is never longer than this many columns. */
	readonly most?: number;
	/** It may be shortened; before it gets shorter than this, others leave the line. */
	readonly least?: number;
	/** It may be left out; the highest number goes first. */
	readonly spare?: number;
}

export function fill(pieces: readonly Piece[], width: number): Segment[] {
	const kept = pieces.filter(({ text }) => text.width > 0);
	let needed = widthOf(kept, fullWidth);
	while (needed > width && widthOf(kept, leastWidth) > width && dropSpare(kept)) needed = widthOf(kept, fullWidth);
	return needed <= width ? kept.map(whole) : shortened(kept, width);
}

function whole(piece: Piece, at: number): Segment {
	return { tone: piece.tone, text: piece.text.cut(fullWidth(piece)), joint: at === 0 ? "" : piece.joint };
}

function fullWidth({ text, most }: Piece): number {
	return most === undefined ? text.width : Math.min(text.width, most);
}

function leastWidth(piece: Piece): number {
	return piece.least === undefined ? fullWidth(piece) : Math.min(fullWidth(piece), piece.least);
}

function widthOf(pieces: readonly Piece[], of: (piece: Piece) => number): number {
	let width = 0;
	for (const [at, piece] of pieces.entries()) width += (at === 0 ? 0 : piece.joint.length) + of(piece);
	return width;
}

/** False when none may go. */
function dropSpare(pieces: Piece[]): boolean {
	let at = -1;
	for (const [index, { spare }] of pieces.entries()) {
		if (spare !== undefined && spare >= (pieces[at]?.spare ?? 0)) at = index;
	}
	if (at >= 0) pieces.splice(at, 1);
	return at >= 0;
}

function shortened(pieces: readonly Piece[], width: number): Segment[] {
	const shares = sharesOf(pieces, width);
	const segments: Segment[] = [];
	let left = width;
	for (const piece of pieces) {
		const joint = segments.length === 0 ? "" : piece.joint;
		const share = Math.min(shares.get(piece) ?? fullWidth(piece), left - joint.length);
		const text = piece.text.cut(share);
		if (text === "") continue;
		segments.push({ tone: piece.tone, text, joint });
		left -= joint.length + share;
	}
	return segments;
}

/** Each has what it needs at least; what is left goes to all who want more, and who wants less leaves it to the rest. */
function sharesOf(pieces: readonly Piece[], width: number): Map<Piece, number> {
	let room = Math.max(0, width - widthOf(pieces, leastWidth));
	const wants = (piece: Piece) => fullWidth(piece) - leastWidth(piece);
	const wanting = pieces.filter((piece) => wants(piece) > 0).sort((a, b) => wants(a) - wants(b));
	const shares = new Map<Piece, number>();
	for (const [at, piece] of wanting.entries()) {
		const more = Math.min(wants(piece), Math.floor(room / (wanting.length - at)));
		shares.set(piece, leastWidth(piece) + more);
		room -= more;
	}
	return shares;
}
