/** A picture of a terminal's screen, as SVG: what a person would have seen, colours included. */
import xterm from "@xterm/headless";

export interface PictureOptions {
	readonly cols: number;
	readonly rows: number;
	/** The size of the terminal. */
	readonly background: string;
	readonly foreground: string;
	/** The alternative text. */
	readonly title: string;
	/** Starts at the first line that matches. */
	readonly from?: RegExp;
}

const CELL = { width: 8.4, height: 18 };
const MARGIN = 12;

/** `raw` is the complete output of the program. */
export async function picture(raw: string, options: PictureOptions): Promise<string> {
	const { cols, rows, background, foreground, title, from } = options;
	const terminal = new xterm.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true });
	await new Promise<void>((resolve) => terminal.write(raw, resolve));
	const { active } = terminal.buffer;
	const lines = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)).flatMap(
		(line) => line ?? [],
	);
	const texts = lines.map((line) => line.translateToString().trimEnd());
	const first = from
		? Math.max(
				0,
				texts.findIndex((text) => from.test(text)),
			)
		: 0;
	const last = texts.findLastIndex((text) => text !== "");
	const shown = lines.slice(first, last + 1);
	const width = cols * CELL.width + 2 * MARGIN;
	const height = shown.length * CELL.height + 2 * MARGIN;
	const body = shown.map((line, row) => spansOf(line, cols, row, foreground)).join("\n");
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${background}"/>
${body}
</svg>
`;
}

type Line = NonNullable<ReturnType<xterm.Terminal["buffer"]["active"]["getLine"]>>;
type Cell = NonNullable<ReturnType<Line["getCell"]>>;

/** Equal cells are one text, stretched to their columns, because glyph widths differ between fonts. */
function spansOf(line: Line, cols: number, row: number, foreground: string): string {
	const spans: { column: number; columns: number; text: string; style: string }[] = [];
	for (let column = 0; column < cols; column++) {
		const cell = line.getCell(column);
		const columns = cell?.getWidth() ?? 0;
		if (!cell || columns === 0) continue;
		const style = styleOf(cell, foreground);
		const open = spans.at(-1);
		const text = cell.getChars() || " ";
		if (open?.style === style && open.column + open.columns === column) {
			open.text += text;
			open.columns += columns;
		} else spans.push({ column, columns, text, style });
	}
	return spans
		.filter(({ text }) => text.trim() !== "")
		.map(({ column, columns, text, style }) => {
			const x = (MARGIN + column * CELL.width).toFixed(1);
			const y = MARGIN + row * CELL.height + 13;
			return `<text x="${x}" y="${y}" textLength="${(columns * CELL.width).toFixed(1)}" xml:space="preserve" ${style}>${escaped(text)}</text>`;
		})
		.join("");
}

function styleOf(cell: Cell, foreground: string): string {
	const colour = cell.isFgRGB() ? `#${cell.getFgColor().toString(16).padStart(6, "0")}` : foreground;
	return `fill="${colour}"${cell.isBold() ? ' font-weight="bold"' : ""}${cell.isItalic() ? ' font-style="italic"' : ""}`;
}

function escaped(text: string): string {
	return text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char] ?? char);
}
