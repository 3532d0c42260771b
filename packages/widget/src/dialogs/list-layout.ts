/** Lays out list rows in columns for any width: the least important go first. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "./fit-text.ts";
import type { Paint } from "./layout.ts";
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
const MAX_LABEL = 36;
/** Branches leave this much for the label. */
const MIN_LABEL = 8;
const MAX_TAG = 28;
/** The label is shortened to leave this much for the tag. */
const DEFAULT_TAG = 10;
const MIN_TAG = 3;
/** Narrower columns are only noise; the selected item is shown in full below. */
const MIN_ABOUT = 28;

export function columnsFor(items: readonly Item[], width: number): Columns {
	const mark = items.some((item) => item.mark) ? 2 : 0;
	const room = Math.max(0, Math.min(width, MAX_WIDTH) - CURSOR.length - mark);
	const [labels, tags, figures, ends] = [
		widest(items, ({ branch = "", label }) => branch + label),
		widest(items, ({ tag }) => tag?.text),
		widest(items, (item) => item.figure),
		widest(items, (item) => item.end),
	];
	const beside = tags > 0 ? GAP + Math.min(tags, DEFAULT_TAG) : 0;
	const label = Math.min(labels, MAX_LABEL, Math.max(Math.min(room, 8), room - beside));
	const tag = atLeast(Math.min(tags, MIN_TAG), Math.min(tags, MAX_TAG, room - label - GAP));
	const afterTag = room - label - (tag > 0 ? GAP + tag : 0);
	const end = afterTag - GAP >= ends ? ends : 0;
	const afterEnd = afterTag - (end > 0 ? GAP + end : 0);
	const figure = afterEnd - GAP >= figures ? figures : 0;
	const about = atLeast(MIN_ABOUT, afterEnd - GAP - (figure > 0 ? GAP + figure : 0));
	return { mark, label, tag, figure, end, about: items.some((item) => item.about) ? about : 0 };
}

export function rowFor(item: Item, columns: Columns, { isSelected, paint }: { isSelected: boolean; paint: Paint }) {
	const { mark, label, tag, about, figure, end } = columns;
	const cell = (text: string, width: number, draw: (text: string) => string) => {
		const shown = clip(sanitize(text), width);
		return draw(shown) + " ".repeat(Math.max(0, width - visibleWidth(shown)));
	};
	const gap = " ".repeat(GAP);
	const right = (text: string, width: number) =>
		width > 0 ? gap + " ".repeat(width - visibleWidth(sanitize(text))) + paint("muted", sanitize(text)) : "";
	const branch = clip(item.branch ?? "", label - Math.min(MIN_LABEL, visibleWidth(sanitize(item.label))));
	return [
		isSelected ? paint("accent", CURSOR) : " ".repeat(CURSOR.length),
		paint("muted", branch),
		mark > 0 ? cell(item.mark?.text ?? "", mark, (text) => paint(item.mark?.tone, text)) : "",
		cell(item.label, label - visibleWidth(branch), (text) => paint(isSelected ? "accent" : undefined, text)),
		tag > 0 ? gap + cell(item.tag?.text ?? "", tag, (text) => paint(item.tag?.tone ?? "muted", text)) : "",
		about > 0 ? gap + cell(item.about ?? "", about, (text) => paint("muted", text)) : "",
		right(item.figure ?? "", figure),
		right(item.end ?? "", end),
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

function widest(items: readonly Item[], textOf: (item: Item) => string | undefined): number {
	return items.reduce((most, item) => Math.max(most, visibleWidth(sanitize(textOf(item) ?? ""))), 0);
}

function atLeast(least: number, columns: number): number {
	return columns >= least ? columns : 0;
}
