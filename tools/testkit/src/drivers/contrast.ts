/** Which text of a terminal's screen a person could hardly read: its colour is too close to the one behind it. */
import xterm from "@xterm/headless";
import { type Cell, hex, type Line, type PictureOptions, visible, write } from "./picture.ts";

/** What WCAG asks of large text and of everything that carries meaning. */
const MIN_CONTRAST = 3;

type Look = Pick<PictureOptions, "cols" | "rows" | "background" | "foreground">;

/** `raw` draws the whole screen. Returns each text with its contrast; empty if all is readable. */
export async function faintTexts(raw: string, look: Look): Promise<string[]> {
	const { cols, rows } = look;
	const terminal = new xterm.Terminal({ cols, rows, scrollback: 1_000, allowProposedApi: true });
	await write(terminal, raw);
	const found = visible(terminal).flatMap((line) => faintIn(line, look));
	terminal.dispose();
	return found;
}

function faintIn(line: Line, look: Look): string[] {
	const faint = new Map<string, string>();
	for (let column = 0; column < look.cols; column++) {
		const cell = line.getCell(column);
		const text = cell?.getChars().trim();
		if (!cell || !text || DRAWN.test(text)) continue;
		const [front, back] = coloursOf(cell, look);
		const contrast = contrastOf(front, back);
		const colours = `${front} on ${back} (${contrast.toFixed(1)})`;
		if (contrast < MIN_CONTRAST) faint.set(colours, (faint.get(colours) ?? "") + text);
	}
	return [...faint].map(([colours, text]) => `${text}: ${colours}`);
}

/** Lines of boxes and trees carry no text. */
const DRAWN = /^[\u2500-\u257f⎿]$/;

function coloursOf(cell: Cell, { foreground, background }: Look): [front: string, back: string] {
	const front = cell.isFgRGB() ? hex(cell.getFgColor()) : foreground;
	const back = cell.isBgRGB() ? hex(cell.getBgColor()) : background;
	return cell.isInverse() ? [back, front] : [front, back];
}

function contrastOf(one: string, other: string): number {
	const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
	return (light + 0.05) / (dark + 0.05);
}

/** As WCAG defines it. */
function luminanceOf(colour: string): number {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
		const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
