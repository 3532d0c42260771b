/**
 * Lays out a command's answer: paragraphs, and rows whose last column takes the remaining width, or moves below the
 * others if that is too narrow. All text is sanitized here, since most of it comes from agents and files. Pure.
 */
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { flow, within } from "../cells/line.ts";
import { clip, place, widest } from "../cells/text.ts";

export type Tone = "strong" | "muted" | "accent" | "good" | "warn" | "bad";

export interface Cell {
	text: string;
	tone?: Tone;
}

export interface Row {
	/** One line each, as wide as the widest of its column. */
	lead: Cell[];
	/** Takes the remaining width, one paragraph each. */
	body: Cell[];
}

/** With `isClipped`, each paragraph of a row is cut to one line. */
export type Block = Cell | { rows: Row[]; isClipped?: boolean };

export type Paint = (tone: Tone | undefined, text: string) => string;

const unpainted: Paint = (_tone, text) => text;

const GAP = "  ";
const INDENT = "  ";
/** Narrower columns of text are hard to read. */
const MIN_BODY = 24;
/** A long name must not crowd out the rest. */
const MAX_LEAD = 40;

/** Label and value pairs. */
export function fields(pairs: readonly (readonly [label: string, text: string, tone?: Tone | undefined])[]): Block {
	const body = (text: string, tone: Tone | undefined): Cell[] => [tone === undefined ? { text } : { text, tone }];
	return {
		rows: pairs.map(([label, text, tone]) => ({ lead: [{ text: label, tone: "muted" }], body: body(text, tone) })),
	};
}

/** One blank line between blocks. */
export function layout(blocks: readonly Block[], width: number, paint: Paint = unpainted): string[] {
	const parts = blocks.map((block) =>
		"rows" in block ? table(block.rows, width, block.isClipped ?? false, paint) : wrapped(block, width, paint),
	);
	const shown = parts.filter((lines) => lines.length > 0);
	return within(
		width,
		shown.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines])),
	);
}

function table(rows: readonly Row[], width: number, isClipped: boolean, paint: Paint): string[] {
	const leads = rows.map(({ lead }) => lead.map((cell) => ({ ...cell, text: clip(sanitize(cell.text), MAX_LEAD) })));
	const columns = leads.reduce((most, lead) => Math.max(most, lead.length), 0);
	const widths = Array.from({ length: columns }, (_, column) => widest(leads.map((lead) => lead[column]?.text)));
	const margin = widths.reduce((sum, each) => sum + each + GAP.length, 0);
	const bodies = widest(rows.flatMap(({ body }) => body.map(({ text }) => sanitize(text))));
	const isStacked = columns > 0 && width - margin < Math.min(MIN_BODY, bodies);
	const indent = isStacked ? INDENT : " ".repeat(margin);
	const room = Math.max(1, width - indent.length);
	return rows.flatMap(({ body }, index) => {
		const cells = leads[index] ?? [];
		const lines = body.flatMap((cell) => (isClipped ? clipped(cell, room, paint) : wrapped(cell, room, paint)));
		const [first = "", ...rest] = lines;
		if (!isStacked) return [(aligned(cells, widths, paint) + first).trimEnd(), ...rest.map((line) => indent + line)];
		const heads =
			margin - GAP.length <= width
				? [aligned(cells, widths, paint).trimEnd()]
				: flow(
						cells.map((cell) => painted(cell, paint)),
						width,
					);
		return [...heads.filter((line) => line !== ""), ...lines.map((line) => indent + line)];
	});
}

/** In columns. */
function aligned(cells: readonly Cell[], widths: readonly number[], paint: Paint): string {
	const columns = widths.map((width, column) => {
		const cell = painted(cells[column] ?? { text: "" }, paint);
		return place(cell.text, width, cell) + GAP;
	});
	return columns.join("");
}

function painted({ text, tone }: Cell, paint: Paint) {
	return { text, paint: (shown: string) => paint(tone, shown) };
}

function clipped({ text, tone }: Cell, width: number, paint: Paint): string[] {
	const line = clip(sanitize(text), width);
	return line === "" ? [] : [paint(tone, line)];
}

/** Each line is painted separately, so that no colour leaks into the next column. */
function wrapped({ text, tone }: Cell, width: number, paint: Paint): string[] {
	const clean = sanitizeBlock(text).trimEnd();
	if (clean === "") return [];
	return wrapTextWithAnsi(clean, Math.max(1, width)).map((line) => (line === "" ? "" : paint(tone, line)));
}
