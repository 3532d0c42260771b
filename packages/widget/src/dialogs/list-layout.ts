/** Lays out list rows in columns for any width: the least important go first. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { share } from "../cells/share.ts";
import { clip, place, widest } from "../cells/text.ts";
import type { Paint, Tone } from "./layout.ts";
import type { Item } from "./screen.ts";

/** Terminal columns of each part of a row; 0 if it is left out. */
export interface Columns {
	mark: number;
	label: number;
	tag: number;
	about: number;
	figure: number;
	end: number;
}

const CURSOR = "→ ";
const GAP = 2;
/** In wider rows the right end is hard to associate with the label. */
const MAX_WIDTH = 130;
const LABEL = { gap: 0, max: 36, min: 8 };
const TAG = { gap: GAP, max: 28, min: 3, dropOrder: 1 };
/** The selected item is shown in full below, so a narrower column would only be noise. */
const ABOUT = { gap: GAP, min: 28, dropOrder: 3 };
const FIGURE = { gap: GAP, dropOrder: 2 };
const END = { gap: GAP, dropOrder: 1 };

/** Label and tag have the room first; the others get what these leave. */
export function columnsFor(items: readonly Item[], width: number): Columns {
	const mark = items.some((item) => item.mark) ? 2 : 0;
	const room = Math.max(0, Math.min(width, MAX_WIDTH) - CURSOR.length - mark);
	const widestOf = (textOf: (item: Item) => string | undefined) =>
		widest(items.map((item) => sanitize(textOf(item) ?? "")));
	const [label = 0, tag = 0] = share(
		[
			{ ...LABEL, columns: widestOf(({ branch = "", label }) => branch + label) },
			{ ...TAG, columns: widestOf((item) => item.tag?.text) },
		],
		room,
	);
	const [, about = 0, figure = 0, end = 0] = share(
		[
			{ gap: 0, columns: label + (tag > 0 ? GAP + tag : 0) },
			{ ...ABOUT, columns: items.some((item) => item.about) ? Number.POSITIVE_INFINITY : 0 },
			{ ...FIGURE, columns: widestOf((item) => item.figure) },
			{ ...END, columns: widestOf((item) => item.end) },
		],
		room,
	);
	return { mark, label, tag, figure, end, about };
}

export function rowFor(item: Item, columns: Columns, { isSelected, paint }: { isSelected: boolean; paint: Paint }) {
	const { mark, label, tag, about, figure, end } = columns;
	const cell = (text: string | undefined, width: number, tone: Tone | undefined, align: "start" | "end" = "start") =>
		place(sanitize(text ?? ""), width, { align, paint: (shown) => paint(tone, shown) });
	const after = (width: number, text: string) => (width > 0 ? " ".repeat(GAP) + text : "");
	const branch = clip(item.branch ?? "", label - Math.min(LABEL.min, visibleWidth(sanitize(item.label))));
	return [
		isSelected ? paint("accent", CURSOR) : " ".repeat(CURSOR.length),
		paint("muted", branch),
		cell(item.mark?.text, mark, item.mark?.tone),
		cell(item.label, label - visibleWidth(branch), isSelected ? "accent" : undefined),
		after(tag, cell(item.tag?.text, tag, item.tag?.tone ?? "muted")),
		after(about, cell(item.about, about, "muted")),
		after(figure, cell(item.figure, figure, "muted", "end")),
		after(end, cell(item.end, end, "muted", "end")),
	].join("");
}

/** The text below the list: the note, and whatever the row clipped. */
export function noteFor({ branch = "", label, tag, about, note }: Item, columns: Columns): string {
	const isCut = (text: string | undefined, width: number) => visibleWidth(sanitize(text ?? "")) > width;
	const cut = [
		...(isCut(branch + label, columns.label) ? [label] : []),
		...(isCut(tag?.text, columns.tag) ? [tag?.text ?? ""] : []),
		...(isCut(about, columns.about) ? [about ?? ""] : []),
	];
	return [...cut, ...(note === undefined || note === about ? [] : [note])].join("\n");
}
