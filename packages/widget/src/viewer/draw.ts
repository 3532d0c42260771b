/** Draws the parts of an entry as rows of a width. Pure, and total: what cannot be laid out nicely is laid out plainly. */
import { Markdown, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { formatCount } from "@pi-subagents/progress";
import { isTame } from "./markdown.ts";
import type { Argument, Parsed, Part, Passage } from "./parts.ts";
import { clip, type Row } from "./row.ts";
import type { Paint, ViewerTheme } from "./theme.ts";

/** What is unfolded: the details of tools and whatever else is long, and the thinking. */
export interface Unfolded {
	details: boolean;
	thinking: boolean;
}

export interface Drawing {
	width: number;
	unfolded: Unfolded;
	theme: ViewerTheme;
}

/** Lines of a folded result. */
const RESULT_ROWS = 4;
const ERROR_ROWS = 8;
/** Lines of a folded task; a little more is shown whole. */
const TOLD_ROWS = 8;
const TOLD_SLACK = 4;
const ASIDE_ROWS = 3;
/** Longer lines of prose are hard to read; output may need them. */
const PROSE_COLUMNS = 110;

/** At least one row, whatever is in it: so a screen never needs more entries than it has lines. */
export function draw({ parts }: Parsed, drawing: Drawing): Row[] {
	const rows: Row[] = [];
	let before: Part["kind"] | undefined;
	for (const part of parts) {
		if (!isAttached(part, before)) rows.push({ lead: "", text: "" });
		rows.push(...drawPart(part, drawing));
		before = part.kind;
	}
	return rows.length > 0 ? rows : [{ lead: "", text: "" }];
}

/** Whether it stands right below what comes before it. Decided without the other entries, so that heights never change. */
function isAttached(part: Part, before: Part["kind"] | undefined): boolean {
	return part.kind === "result" || part.kind === "progress" || (part.kind === "call" && before === "call");
}

function drawPart(part: Part, drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	switch (part.kind) {
		case "told":
			return drawTold(part.passage, drawing);
		case "said":
			return led(prose(gutter("  ", drawing)), (width) =>
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
			return led(gutter(theme.error("✗ "), drawing), (width) => painted(wrap(part.line, width), theme.error));
		case "note":
		case "progress": {
			const rows = (width: number) => (unfolded.details ? wrap(part.line, width) : [clip(part.line, width)]);
			return led(gutter(theme.dim("· "), drawing), (width) => painted(rows(width), theme.muted));
		}
		default:
			part satisfies never;
			return [];
	}
}

function drawTold(passage: Passage, drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	const bar = prose(gutter(theme.accent("▌ "), drawing, theme.accent("▌ ")));
	return led(bar, (width) => {
		const lines = wrap(passage.text || "(nothing)", width);
		const isFolded = !unfolded.details && lines.length > TOLD_ROWS + TOLD_SLACK;
		const shown = painted(isFolded ? lines.slice(0, TOLD_ROWS) : lines, theme.told);
		if (!isFolded) return withRest(shown, { passage }, theme);
		return [...shown, theme.muted(clip(`… ${formatCount(lines.length - TOLD_ROWS, "more line")}`, width))];
	});
}

function drawThinking({ text }: Passage, drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	return led(prose(gutter(theme.dim("◇ "), drawing)), (width) => {
		if (unfolded.thinking) return painted(wrap(text || "(thinking that is not told)", width), theme.thinking);
		const [first = ""] = text.split("\n", 1);
		return [theme.thinking(clip(first === "" ? "Thinking" : `Thinking: ${first}`, width))];
	});
}

function drawCall(line: string, args: readonly Argument[], drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	const head = led(gutter(theme.accent("● "), drawing), (width) => [theme.toolTitle(clip(line, width))]);
	if (!unfolded.details || args.length === 0) return head;
	const names = Math.min(16, Math.max(...args.map(({ name }) => visibleWidth(name))));
	return [
		...head,
		...args.flatMap(({ name, passage }) => {
			const shown = clip(name, names);
			const lead = `  ${theme.muted(shown)}${" ".repeat(names - visibleWidth(shown) + 2)}`;
			return led(gutter(lead, drawing), (width) =>
				withRest(painted(breakLines(passage.text, width), theme.dim), { passage }, theme),
			);
		}),
	];
}

function drawResult(part: Extract<Part, { kind: "result" }>, drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	const { line, passage, isError, endMatters } = part;
	const mark = isError ? theme.error("✗ ") : theme.dim("⎿ ");
	return led(gutter(`  ${mark}`, drawing), (width) => {
		const head = line === "" ? [] : [(isError ? theme.error : theme.muted)(clip(line, width))];
		const paint = isError ? theme.error : theme.toolOutput;
		if (passage.text === "") return head.length > 0 ? head : [theme.dim(clip("(no output)", width))];
		if (unfolded.details) return [...head, ...withRest(painted(breakLines(passage.text, width), paint), part, theme)];
		const most = isError ? ERROR_ROWS : RESULT_ROWS;
		return [...head, ...excerpt(passage, { most, endMatters, width, paint, theme })];
	});
}

function drawAside(label: string, passage: Passage, drawing: Drawing): Row[] {
	const { theme, unfolded } = drawing;
	return led(gutter(theme.dim("≡ "), drawing), (width) => {
		const head = theme.muted(clip(`${label} · ${formatCount(linesIn(passage), "line")}`, width));
		if (unfolded.details)
			return [head, ...withRest(painted(wrap(passage.text, width), theme.muted), { passage }, theme)];
		// Everybody knows what a system prompt is; a summary or a message is worth a look.
		if (label === "System prompt" || passage.text === "") return [head];
		const paint = theme.muted;
		return [head, ...excerpt(passage, { most: ASIDE_ROWS, endMatters: false, width, paint, theme })];
	});
}

interface Excerpt {
	most: number;
	endMatters: boolean;
	width: number;
	paint: Paint;
	theme: ViewerTheme;
}

/** The first lines, or the last, each on one row. One line more than that is shown rather than counted. */
function excerpt({ text, cut }: Passage, { most, endMatters, width, paint, theme }: Excerpt): string[] {
	const lines = text.split("\n");
	const fits = lines.length <= most + 1 && cut === 0;
	const fromEnd = endMatters && cut === 0;
	const shown = fits ? lines : fromEnd ? lines.slice(-most) : lines.slice(0, most);
	const rows = shown.map((line) => paint(clip(line, width)));
	if (fits) return rows;
	const hidden = lines.length - shown.length;
	const more = hidden > 0 ? `… ${formatCount(hidden, fromEnd ? "earlier line" : "more line")}` : restText(cut);
	const note = theme.dim(clip(more, width));
	return fromEnd ? [note, ...rows] : [...rows, note];
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

/** Room before the text, on every line of it; narrow screens have none to spare. */
function gutter(first: string, { width }: Drawing, others?: string): Gutter {
	const columns = visibleWidth(first);
	if (width < columns + LEAST_TEXT) return { first: "", others: "", width: Math.max(1, width) };
	return { first, others: others ?? " ".repeat(columns), width: width - columns };
}

function prose(gutter: Gutter): Gutter {
	return { ...gutter, width: Math.min(gutter.width, PROSE_COLUMNS) };
}

const LEAST_TEXT = 8;

function led({ first, others, width }: Gutter, lines: (width: number) => readonly string[]): Row[] {
	return lines(width).map((text, index) => ({ lead: index === 0 ? first : others, text }));
}

function painted(lines: readonly string[], paint: Paint): string[] {
	return lines.map((line) => (line === "" ? "" : paint(line)));
}

function drawMarkdown(text: string, width: number, theme: ViewerTheme): string[] {
	if (isTame(text)) {
		try {
			const lines = new Markdown(text, 0, 0, theme.markdown, { color: theme.text }, { renderLatex: false }).render(
				width,
			);
			if (lines.length > 0) return lines.map((line) => line.trimEnd());
		} catch {
			// Nested too deeply for the parser; read as plain text it is still readable.
		}
	}
	return painted(wrap(text, width), theme.text);
}

/** Between words. */
function wrap(text: string, width: number): string[] {
	return text
		.split("\n")
		.flatMap((line) => (line.length <= width && ASCII.test(line) ? [line] : wrapLine(line, width)));
}

/** Pieces of it, since the time that pi's wrapping takes for one word grows faster than the word. */
function wrapLine(line: string, width: number): string[] {
	return line.length <= LONG_LINE ? wrapTextWithAnsi(line, width) : breakLines(line, width);
}

/** At the edge, as a terminal does: columns of output stay columns. */
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
