/** Draws the parts of an entry as rows of a given width. Pure; never throws: what cannot be formatted is drawn as plain text. */
import { Markdown, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { formatCount } from "@pi-subagents/progress";
import { clip, place, widest } from "../../cells/text.ts";
import type { Argument, Parsed, Part, Passage } from "./parts.ts";
import type { Row } from "./row.ts";
import type { Paint, ViewerTheme } from "./theme.ts";

/** What is unfolded: tool details and other long texts, and thinking. */
export interface Unfolded {
	details: boolean;
	thinking: boolean;
}

export interface DrawOptions {
	width: number;
	unfolded: Unfolded;
	theme: ViewerTheme;
}

/** Lines of a folded result. */
const RESULT_ROWS = 4;
const ERROR_ROWS = 8;
/** Lines of a folded task; slightly longer ones are not folded. */
const USER_ROWS = 8;
const USER_SLACK = 4;
const ASIDE_ROWS = 3;
/** Columns of the names of a call's arguments. */
const MAX_NAME = 16;
/** Longer lines of prose are hard to read. Tool output is not limited. */
const PROSE_COLUMNS = 110;

/** At least one row per entry, so a screen never needs more entries than it has lines. */
export function draw({ parts }: Parsed, drawing: DrawOptions): Row[] {
	const rows: Row[] = [];
	let before: Part["kind"] | undefined;
	for (const part of parts) {
		if (!isAttached(part, before)) rows.push({ lead: "", text: "" });
		rows.push(...drawPart(part, drawing));
		before = part.kind;
	}
	return rows.length > 0 ? rows : [{ lead: "", text: "" }];
}

/** Whether no blank line precedes it. Independent of other entries, so that heights never change. */
function isAttached(part: Part, before: Part["kind"] | undefined): boolean {
	return part.kind === "result" || part.kind === "progress" || (part.kind === "call" && before === "call");
}

function drawPart(part: Part, drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	switch (part.kind) {
		case "user":
			return drawUser(part.passage, drawing);
		case "assistant":
			return withGutter(prose(gutter("  ", drawing)), (width) =>
				withRest(drawMarkdown(part.passage.text, width, theme), part, theme),
			);
		case "thinking":
			return drawThinking(part.passage, drawing);
		case "call":
			return drawCall(part.line, part.args, drawing);
		case "result":
			return drawResult(part, drawing);
		case "aside":
			return drawAside(part.label, part.passage, drawing);
		case "error":
			return withGutter(gutter(theme.error("✗ "), drawing), (width) => painted(wrap(part.line, width), theme.error));
		case "note":
		case "progress": {
			const rows = (width: number) => (unfolded.details ? wrap(part.line, width) : [clip(part.line, width)]);
			return withGutter(gutter(theme.dim("· "), drawing), (width) => painted(rows(width), theme.muted));
		}
		default:
			part satisfies never;
			return [];
	}
}

function drawUser(passage: Passage, drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	const bar = prose(gutter(theme.accent("▌ "), drawing, theme.accent("▌ ")));
	return withGutter(bar, (width) => {
		const lines = wrap(passage.text || "(empty)", width);
		const isFolded = !unfolded.details && lines.length > USER_ROWS + USER_SLACK;
		const shown = painted(isFolded ? lines.slice(0, USER_ROWS) : lines, theme.userText);
		if (!isFolded) return withRest(shown, { passage }, theme);
		return [...shown, theme.muted(clip(`… ${formatCount(lines.length - USER_ROWS, "more line")}`, width))];
	});
}

function drawThinking({ text }: Passage, drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	return withGutter(prose(gutter(theme.dim("◇ "), drawing)), (width) => {
		if (unfolded.thinking) return painted(wrap(text || "(hidden thinking)", width), theme.thinking);
		const [first = ""] = text.split("\n", 1);
		return [theme.thinking(clip(first === "" ? "Thinking" : `Thinking: ${first}`, width))];
	});
}

function drawCall(line: string, args: readonly Argument[], drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	const head = withGutter(gutter(theme.accent("● "), drawing), (width) => [theme.toolTitle(clip(line, width))]);
	if (!unfolded.details || args.length === 0) return head;
	const names = Math.min(MAX_NAME, widest(args.map(({ name }) => name)));
	return [
		...head,
		...args.flatMap(({ name, passage }) => {
			const lead = `  ${place(name, names, { paint: theme.muted })}  `;
			return withGutter(gutter(lead, drawing), (width) =>
				withRest(painted(breakLines(passage.text, width), theme.dim), { passage }, theme),
			);
		}),
	];
}

function drawResult(part: Extract<Part, { kind: "result" }>, drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	const { line, passage, isError, showsEnd } = part;
	const mark = isError ? theme.error("✗ ") : theme.dim("⎿ ");
	return withGutter(gutter(`  ${mark}`, drawing), (width) => {
		const head = line === "" ? [] : [(isError ? theme.error : theme.muted)(clip(line, width))];
		const paint = isError ? theme.error : theme.toolOutput;
		if (passage.text === "") return head.length > 0 ? head : [theme.dim(clip("(no output)", width))];
		if (unfolded.details) return [...head, ...withRest(painted(breakLines(passage.text, width), paint), part, theme)];
		const most = isError ? ERROR_ROWS : RESULT_ROWS;
		return [...head, ...excerpt(passage, { most, showsEnd, width, paint, theme })];
	});
}

function drawAside(label: string, passage: Passage, drawing: DrawOptions): Row[] {
	const { theme, unfolded } = drawing;
	return withGutter(gutter(theme.dim("≡ "), drawing), (width) => {
		const head = theme.muted(clip(`${label} · ${formatCount(linesIn(passage), "line")}`, width));
		if (unfolded.details)
			return [head, ...withRest(painted(wrap(passage.text, width), theme.muted), { passage }, theme)];
		// A folded system prompt shows only its label; summaries and messages show an excerpt.
		if (label === "System prompt" || passage.text === "") return [head];
		const paint = theme.muted;
		return [head, ...excerpt(passage, { most: ASIDE_ROWS, showsEnd: false, width, paint, theme })];
	});
}

interface Excerpt {
	most: number;
	showsEnd: boolean;
	width: number;
	paint: Paint;
	theme: ViewerTheme;
}

/** The first or last lines, one row each. A single extra line is shown rather than counted. */
function excerpt({ text, cut }: Passage, { most, showsEnd, width, paint, theme }: Excerpt): string[] {
	const lines = text.split("\n");
	const fits = lines.length <= most + 1 && cut === 0;
	const isFromEnd = showsEnd && cut === 0;
	const shown = fits ? lines : isFromEnd ? lines.slice(-most) : lines.slice(0, most);
	const rows = shown.map((line) => paint(clip(line, width)));
	if (fits) return rows;
	const hidden = lines.length - shown.length;
	const more = hidden > 0 ? `… ${formatCount(hidden, isFromEnd ? "earlier line" : "more line")}` : restText(cut);
	const note = theme.dim(clip(more, width));
	return isFromEnd ? [note, ...rows] : [...rows, note];
}

function linesIn({ text }: Passage): number {
	return text === "" ? 0 : text.split("\n").length;
}

function withRest(lines: string[], { passage: { cut } }: { passage: Passage }, theme: ViewerTheme): string[] {
	return cut === 0 ? lines : [...lines, theme.muted(restText(cut))];
}

function restText(cut: number): string {
	return `… ${formatCount(cut, "more character")}, only in the file`;
}

interface Gutter {
	first: string;
	others: string;
	width: number;
}

/** The prefix of every line; none on narrow screens. */
function gutter(first: string, { width }: DrawOptions, others?: string): Gutter {
	const columns = visibleWidth(first);
	if (width < columns + MIN_TEXT) return { first: "", others: "", width: Math.max(1, width) };
	return { first, others: others ?? " ".repeat(columns), width: width - columns };
}

function prose(gutter: Gutter): Gutter {
	return { ...gutter, width: Math.min(gutter.width, PROSE_COLUMNS) };
}

const MIN_TEXT = 8;

function withGutter({ first, others, width }: Gutter, lines: (width: number) => readonly string[]): Row[] {
	return lines(width).map((text, index) => ({ lead: index === 0 ? first : others, text }));
}

function painted(lines: readonly string[], paint: Paint): string[] {
	return lines.map((line) => (line === "" ? "" : paint(line)));
}

function drawMarkdown(text: string, width: number, theme: ViewerTheme): string[] {
	if (isSafeMarkdown(text)) {
		try {
			const lines = new Markdown(text, 0, 0, theme.markdown, { color: theme.text }, { renderLatex: false }).render(
				width,
			);
			if (lines.length > 0) return lines.map((line) => line.trimEnd());
		} catch {
			// Nested too deeply for the parser; plain text is still readable.
		}
	}
	return painted(wrap(text, width), theme.text);
}

/** Wraps at word boundaries. */
function wrap(text: string, width: number): string[] {
	return text
		.split("\n")
		.flatMap((line) => (line.length <= width && ASCII.test(line) ? [line] : wrapLine(line, width)));
}

/** Long lines are cut first, because pi's wrapping time grows faster than the length of a word. */
function wrapLine(line: string, width: number): string[] {
	return line.length <= LONG_LINE ? wrapTextWithAnsi(line, width) : breakLines(line, width);
}

/** Breaks at the edge, like a terminal, so that columns of output stay aligned. */
function breakLines(text: string, width: number): string[] {
	return text.split("\n").flatMap((line) => {
		if (line.length <= width && ASCII.test(line)) return [line];
		return ASCII.test(line)
			? slices(line, width)
			: slices(line, LONG_LINE).flatMap((one) => wrapTextWithAnsi(one, width));
	});
}

const LONG_LINE = 4096;
const ASCII = /^[\x20-\x7e]*$/;

function slices(line: string, length: number): string[] {
	const found: string[] = [];
	for (let at = 0; at < line.length; at += length) found.push(line.slice(at, at + length));
	return found;
}

const MAX_CHARACTERS = 32 * 1024;
/** Sum of the squared mark counts per paragraph. About a tenth of a second. */
const MAX_WORK = 250_000;

/**
 * Whether pi's Markdown parser can handle the text without freezing the screen. Parsing time grows with the square of the
 * marks in a paragraph and with the nesting depth, and a model may write anything.
 */
export function isSafeMarkdown(text: string): boolean {
	if (text.length > MAX_CHARACTERS) return false;
	let work = 0;
	let marks = 0;
	let fence = "";
	for (const line of text.split("\n")) {
		const ticks = FENCE.exec(line)?.[1] ?? "";
		if (fence === "" && ticks === "") {
			if (NESTED.test(line)) return false;
			if (BEGINNING.test(line)) {
				work += marks ** 2;
				marks = 0;
			}
			marks += line.match(MARK)?.length ?? 0;
		} else if (fence === "") fence = ticks;
		else if (ticks.startsWith(fence)) fence = ""; // code between fences is not parsed
	}
	return work + marks ** 2 <= MAX_WORK;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A blank line, list item or table row starts a new paragraph. */
const BEGINNING = /^\s*(?:$|\||[-*+] |\d+[.)] )/;
const NESTED = /^(?: {40,}(?:[-*+>]|\d+[.)])|[> ]{80}|(?:[-*+] ){40})/;
const MARK = /[*_~[]/g;
