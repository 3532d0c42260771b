/** Assembles the viewer's parts into exactly `rows` lines of exactly `width` columns. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui";
import { fill, fitCells, lineOf } from "../cells/line.ts";
import { clip } from "../cells/text.ts";
import type { Row } from "./content/row.ts";
import type { Paint, ViewerTheme } from "./content/theme.ts";

export interface Size {
	width: number;
	rows: number;
}

/** How the lines are distributed. */
export interface Layout extends Size {
	/** With a border; small screens have none. */
	isFramed: boolean;
	/** Columns inside the border. */
	inner: number;
	head: number;
	body: number;
	/** Lines between the body and the hints. */
	foot: number;
	hasStatus: boolean;
	hasHints: boolean;
}

export interface Content {
	/** In the upper border. */
	title: string;
	head: readonly string[];
	body: readonly Row[];
	/** The visible fraction. */
	from: number;
	to: number;
	/** On the line below the body: the latest notice, then the status. */
	notice: { text: string; paint: Paint };
	status: string;
	foot: readonly string[];
	hints: string;
}

/** Everything but the conversation may take at most half. */
export function layOut({ width, rows }: Size, wanted: { head: number; foot: number }): Layout {
	const isFramed = width >= 24 && rows >= 10;
	const hasStatus = rows >= 4;
	const hasHints = rows >= 2;
	const border = isFramed ? 2 : 0;
	const room = rows - border - (hasStatus ? 1 : 0) - (hasHints ? 1 : 0);
	const foot = Math.max(0, Math.min(wanted.foot, Math.floor(room / 2)));
	const line = (head: number) => (isFramed && head > 0 ? 1 : 0);
	const head = Math.max(0, Math.min(wanted.head, Math.floor((room - foot) / 3) - 1));
	const body = Math.max(0, room - foot - head - line(head));
	return { width, rows, isFramed, inner: isFramed ? width - 4 : width, head, body, foot, hasStatus, hasHints };
}

export function frame(layout: Layout, content: Content, theme: ViewerTheme): string[] {
	const { isFramed, inner, head, hasStatus, hasHints, foot, width, rows } = layout;
	const inside = (line: string) => side(line, layout, theme.border("│"), theme);
	const bar = (position: number) => (isThumb(position, layout, content) ? theme.thumb("┃") : theme.border("│"));
	const lines = [
		...(isFramed ? [titleLine(layout, content, theme)] : []),
		...content.head.slice(0, head).map(inside),
		...(isFramed && head > 0 ? [rule("├", "┤", layout, theme)] : []),
		...content.body.map(({ lead, text }, at) => side(lead + text, layout, bar(at), theme)),
		...(hasStatus ? [statusLine(layout, content, theme)] : []),
		...content.foot.slice(0, foot).map(inside),
		...(hasHints ? [inside(content.hints)] : []),
		...(isFramed ? [rule("╰", "╯", layout, theme)] : []),
	];
	while (lines.length < rows) lines.push(" ".repeat(Math.max(0, width)));
	return lines.slice(0, Math.max(0, rows)).map((line) => (inner > 0 ? fill(line, width) : ""));
}

function side(line: string, { isFramed, inner }: Layout, right: string, theme: ViewerTheme): string {
	return isFramed ? `${theme.border("│")} ${fill(line, inner)} ${right}` : line;
}

function titleLine(layout: Layout, { title }: Content, theme: ViewerTheme): string {
	const { width } = layout;
	const text = clip(title, width - 6);
	if (text === "") return rule("╭", "╮", layout, theme);
	const dashes = "─".repeat(Math.max(0, width - 5 - visibleWidth(text)));
	return `${theme.border("╭─")} ${theme.accent(text)} ${theme.border(`${dashes}╮`)}`;
}

function rule(left: string, right: string, { width }: Layout, theme: ViewerTheme): string {
	return theme.border(left + "─".repeat(Math.max(0, width - 2)) + right);
}

/** There is no scroll bar if everything fits. */
function isThumb(position: number, { body }: Layout, { from, to }: Content): boolean {
	if (to - from >= 0.999 || body === 0) return false;
	const size = Math.max(1, Math.round((to - from) * body));
	const start = Math.min(body - size, Math.round(from * body));
	return position >= start && position < start + size;
}

/** The status is dropped if the notice needs the space. */
function statusLine({ isFramed, inner, width }: Layout, { notice, status }: Content, theme: ViewerTheme): string {
	const cells = [
		{ text: notice.text, paint: notice.paint },
		{ text: status, dropOrder: 1 },
	];
	if (!isFramed) return lineOf(cells, inner);
	const placed = fitCells(cells, inner - 2);
	const shown = cells.map((cell) => placed.find((each) => each.cell === cell)?.text ?? "");
	const [said = "", where = ""] = shown.map((text) => (text === "" ? "" : ` ${text} `));
	const dashes = "─".repeat(Math.max(0, width - 4 - visibleWidth(said) - visibleWidth(where)));
	return `${theme.border("├─")}${notice.paint(said)}${theme.border(dashes)}${where}${theme.border("─┤")}`;
}
