/**
 * Pictures of a terminal's screen, as SVG: what a person would have seen, colours included. `picture` is one screen,
 * `film` a recording: without animation it shows its poster, which is a whole screen too.
 */
import xterm from "@xterm/headless";

export interface PictureOptions {
	/** The size of the terminal. */
	readonly cols: number;
	readonly rows: number;
	readonly background: string;
	readonly foreground: string;
	/** The alternative text. */
	readonly title: string;
	/** Starts at the first line that matches. */
	readonly from?: RegExp;
	/** Ends before the first line after `from` that matches. */
	readonly until?: RegExp;
	/** Replaces text of the screen, such as a path of this machine. It must not change the width of a line. */
	readonly replace?: (line: string) => string;
}

/** How much of the output had arrived at a moment, in milliseconds. */
export interface Mark {
	readonly at: number;
	readonly length: number;
}

export interface FilmOptions extends Omit<PictureOptions, "from" | "until"> {
	/** The frame that is shown without animation: the last one for which this holds. */
	readonly poster: (lines: readonly string[]) => boolean;
	/** How long the last frame stays. */
	readonly lastMs: number;
}

const CELL = { width: 8.4, height: 18 };
const MARGIN = 12;

/** `raw` is the complete output of the program. */
export async function picture(raw: string, options: PictureOptions): Promise<string> {
	const { cols, rows, from, until } = options;
	const terminal = new xterm.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
	await write(terminal, raw);
	const lines = visible(terminal);
	const texts = lines.map(textOf);
	const first = from
		? Math.max(
				0,
				texts.findIndex((text) => from.test(text)),
			)
		: 0;
	const end = until ? texts.findIndex((text, row) => row > first && until.test(text)) : -1;
	const last = texts.findLastIndex((text, row) => text !== "" && (end < 0 || row < end));
	const shown = lines.slice(first, last + 1);
	const paint = new Paint(options);
	const body = shown.map((line, row) => paint.line(line, row * CELL.height)).join("\n");
	return svg(options, shown.length, `${paint.css()}`, body);
}

/** Frames that look alike are one, and so are lines, wherever they stand. */
export async function film(raw: string, marks: readonly Mark[], options: FilmOptions): Promise<string> {
	const { cols, rows, poster, lastMs } = options;
	const terminal = new xterm.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
	const paint = new Paint(options);
	const ids = new Map<string, string>();
	const frames: { at: number; body: string }[] = [];
	let posterBody = "";
	let length = 0;
	for (const mark of marks) {
		await write(terminal, raw.slice(length, mark.length));
		length = mark.length;
		const lines = visible(terminal);
		const uses = lines.map((line, row) => {
			const drawn = paint.line(line, 0);
			if (drawn === "") return "";
			const id = ids.get(drawn) ?? `l${ids.size}`;
			ids.set(drawn, id);
			return `<use href="#${id}"${row === 0 ? "" : ` y="${row * CELL.height}"`}/>`;
		});
		const body = uses.join("");
		if (poster(lines.map(textOf))) posterBody = body;
		if (frames.at(-1)?.body !== body) frames.push({ at: mark.at, body });
	}
	if (posterBody === "") throw new Error("No frame is fit for the poster.");
	const start = frames[0]?.at ?? 0;
	const duration = (frames.at(-1)?.at ?? 0) - start + lastMs;
	const height = rows * CELL.height + 2 * MARGIN;
	// The poster is where the strip stands when it does not move.
	const steps = frames.map(
		({ at }, index) =>
			`${((100 * (at - start)) / duration).toFixed(2)}%{transform:translateY(${-height * (index + 1)}px)}`,
	);
	const css = `${paint.css()}.s{animation:s ${(duration / 1_000).toFixed(1)}s step-end infinite}@keyframes s{${steps.join("")}}@media (prefers-reduced-motion:reduce){.s{animation:none}}`;
	const defs = [...ids].map(([drawn, id]) => `<g id="${id}">${drawn}</g>`).join("\n");
	const strip = [posterBody, ...frames.map(({ body }) => body)]
		.map((body, index) => `<g${index === 0 ? "" : ` transform="translate(0 ${height * index})"`}>${body}</g>`)
		.join("\n");
	return svg(options, rows, css, `<defs>\n${defs}\n</defs>\n<g class="s">\n${strip}\n</g>`);
}

function svg(
	{ cols, background, title }: Pick<PictureOptions, "cols" | "background" | "title">,
	rows: number,
	css: string,
	body: string,
): string {
	const size = `width="${Math.ceil(cols * CELL.width + 2 * MARGIN)}" height="${rows * CELL.height + 2 * MARGIN}"`;
	return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<title>${escaped(title)}</title>
<style>text{white-space:pre}${css}</style>
<rect width="100%" height="100%" rx="8" fill="${background}"/>
${body}
</svg>
`;
}

export type Line = NonNullable<ReturnType<xterm.Terminal["buffer"]["active"]["getLine"]>>;
export type Cell = NonNullable<ReturnType<Line["getCell"]>>;

export function write(terminal: xterm.Terminal, data: string): Promise<void> {
	return new Promise((resolve) => terminal.write(data, resolve));
}

export function visible(terminal: xterm.Terminal): Line[] {
	const { active } = terminal.buffer;
	return Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.baseY + row)).flatMap(
		(line) => line ?? [],
	);
}

function textOf(line: Line): string {
	return line.translateToString().trimEnd();
}

interface Span {
	column: number;
	columns: number;
	text: string;
	fill: string;
	style: string;
}

/** Draws lines, and collects their colours as classes, since most lines share a few. */
class Paint {
	readonly #options: PictureOptions | FilmOptions;
	readonly #fills = new Map<string, string>();

	constructor(options: PictureOptions | FilmOptions) {
		this.#options = options;
	}

	css(): string {
		return [...this.#fills].map(([colour, name]) => `.${name}{fill:${colour}}`).join("");
	}

	/** `top` is the upper edge of the line. */
	line(line: Line, top: number): string {
		const spans = this.#spans(line);
		const backgrounds = spans
			.filter(({ fill }) => fill !== "")
			.map(
				({ column, columns, fill }) =>
					`<rect x="${left(column)}" y="${MARGIN + top}" width="${width(columns)}" height="${CELL.height}" class="${this.#fill(fill)}"/>`,
			);
		const texts = spans
			.filter(({ text }) => text.trim() !== "")
			.map(
				({ column, columns, text, style }) =>
					`<text x="${left(column)}" y="${MARGIN + top + 13}" textLength="${width(columns)}" ${style}>${escaped(text)}</text>`,
			);
		return [...backgrounds, ...texts].join("");
	}

	/** Equal cells are one text, stretched to their columns, because glyph widths differ between fonts. */
	#spans(line: Line): Span[] {
		const { cols, replace } = this.#options;
		const spans: Span[] = [];
		for (let column = 0; column < cols; column++) {
			const cell = line.getCell(column);
			const columns = cell?.getWidth() ?? 0;
			if (!cell || columns === 0) continue;
			const [fill, style] = this.#styleOf(cell);
			const open = spans.at(-1);
			const text = cell.getChars() || " ";
			if (open && open.style === style && open.fill === fill && open.column + open.columns === column) {
				open.text += text;
				open.columns += columns;
			} else spans.push({ column, columns, text, fill, style });
		}
		return replace ? spans.map((span) => ({ ...span, text: replace(span.text) })) : spans;
	}

	/** The colour behind a cell, if it has one of its own, and the attributes of its text. */
	#styleOf(cell: Cell): [fill: string, style: string] {
		const { foreground, background } = this.#options;
		const colours = [
			cell.isFgRGB() ? hex(cell.getFgColor()) : foreground,
			cell.isBgRGB() ? hex(cell.getBgColor()) : "",
		] as const;
		const [text, fill] = cell.isInverse() ? [colours[1] || background, colours[0]] : colours;
		const bold = cell.isBold() ? ' font-weight="bold"' : "";
		return [fill, `class="${this.#fill(text)}"${bold}${cell.isItalic() ? ' font-style="italic"' : ""}`];
	}

	#fill(colour: string): string {
		const name = this.#fills.get(colour) ?? `c${this.#fills.size}`;
		this.#fills.set(colour, name);
		return name;
	}
}

export const hex = (colour: number) => `#${colour.toString(16).padStart(6, "0")}`;
const left = (column: number) => (MARGIN + column * CELL.width).toFixed(1);
const width = (columns: number) => (columns * CELL.width).toFixed(1);

function escaped(text: string): string {
	return text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char] ?? char);
}
