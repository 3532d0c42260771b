/** Finds text in a conversation and highlights it. */
import { stripTerminalSequences } from "@earendil-works/pi-tui";
import { type Parsed, type Part, parse } from "./parts.ts";
import type { Row } from "./row.ts";
import type { ConversationSource } from "./source.ts";
import type { Paint } from "./theme.ts";

/** A match in the drawn rows of an entry; it may span several rows. */
export interface Match {
	row: number;
	spans: readonly Span[];
}

interface Span {
	row: number;
	/** In characters of the row's text without colours. */
	start: number;
	end: number;
}

/** Case-sensitive if the query has capitals. A space matches any whitespace, so that text is found across lines. */
export function patternOf(query: string): RegExp | undefined {
	const words = query
		.trim()
		.split(/\s+/)
		.filter((word) => word !== "");
	if (words.length === 0) return undefined;
	const source = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+");
	return new RegExp(source, /\p{Lu}/u.test(query) ? "gu" : "giu");
}

export interface Scan {
	pattern: RegExp;
	/** The search begins after it, or before it, and ends with it. */
	start: number;
	step: 1 | -1;
	isOver: () => boolean;
	/** The searched fraction of the conversation. */
	onProgress: (part: number) => void;
}

const BATCH = 64;

/** The entries that match, starting at `start` and wrapping around. Keeps none of them in memory. */
export async function* entriesWith(source: ConversationSource, scan: Scan): AsyncGenerator<number> {
	const { pattern, start, step, isOver, onProgress } = scan;
	const { length } = source;
	for (let done = 0; done < length; ) {
		const first = mod(start + step * (done + 1), length);
		const toEdge = step > 0 ? length - first : first + 1;
		const count = Math.min(BATCH, toEdge, length - done);
		const from = step > 0 ? first : first - count + 1;
		const entries = await source.read(from, count);
		const found = entries.flatMap((entry, place) => (has(parse(entry), pattern) ? [from + place] : []));
		for (const index of step > 0 ? found : found.reverse()) {
			if (isOver()) return;
			yield index;
		}
		done += count;
		onProgress(done / length);
		await new Promise((resolve) => setImmediate(resolve)); // lets input and frames in
		if (isOver()) return;
	}
}

function mod(value: number, length: number): number {
	return ((value % length) + length) % length;
}

/** Whether an entry may match; how it is drawn decides. */
export function has({ parts }: Parsed, pattern: RegExp): boolean {
	return parts.some((part) => textsOf(part).some((text) => text.search(pattern) >= 0));
}

function textsOf(part: Part): string[] {
	switch (part.kind) {
		case "call":
			return [part.line, ...part.args.map(({ passage }) => passage.text)];
		case "result":
			return [part.line, part.passage.text];
		case "aside":
			return [part.label, part.passage.text];
		case "error":
		case "note":
		case "progress":
			return [part.line];
		case "assistant":
			return [part.passage.text, part.passage.text.replace(MARKS, "")]; // as drawn, without Markdown marks
		default:
			return [part.passage.text];
	}
}

const MARKS = /[*_`~[\]]/g;

/** The matches in these rows, in order. */
export function matchesIn(rows: readonly Row[], pattern: RegExp): Match[] {
	const texts = rows.map(({ text }) => stripTerminalSequences(text));
	const starts: number[] = [];
	let length = 0;
	for (const text of texts) {
		starts.push(length);
		length += text.length + 1;
	}
	const matches: Match[] = [];
	let row = 0;
	for (const found of texts.join("\n").matchAll(pattern)) {
		const end = found.index + found[0].length;
		while (row + 1 < rows.length && (starts[row + 1] ?? 0) <= found.index) row++;
		const spans: Span[] = [];
		for (let at = row; at < rows.length && (starts[at] ?? 0) < end; at++) {
			const offset = starts[at] ?? 0;
			const span = {
				row: at,
				start: Math.max(0, found.index - offset),
				end: Math.min(end - offset, texts[at]?.length ?? 0),
			};
			if (span.end > span.start) spans.push(span);
		}
		matches.push({ row, spans });
	}
	return matches;
}

/** Paints ranges of a coloured text and restores its colours after each. */
export function mark(text: string, ranges: readonly { start: number; end: number; paint: Paint }[]): string {
	let marked = "";
	let at = 0; // in characters without colours
	let colours = "";
	for (const [piece = ""] of text.matchAll(PIECES)) {
		if (piece.startsWith("\u001b")) {
			colours = RESET.test(piece) ? "" : colours + piece;
			marked += piece;
			continue;
		}
		let done = 0;
		for (const { start, end, paint } of ranges) {
			const from = Math.max(done, start - at);
			const to = Math.min(piece.length, end - at);
			if (to <= from) continue;
			marked += piece.slice(done, from) + paint(piece.slice(from, to)) + colours;
			done = to;
		}
		marked += piece.slice(done);
		at += piece.length;
	}
	return marked;
}

/** A colour, a link, or plain text. Everything else was sanitized away. */
const PIECES = /\u001b\[[0-9;:]*m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[^\u001b]+|\u001b/g;
const RESET = /^\u001b\[0?m$/;
