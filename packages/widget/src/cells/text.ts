/** Plain text in terminal columns: measured as pi measures it, cut, padded. Colours come afterwards. Pure. */
import { sliceByColumn, visibleWidth } from "@earendil-works/pi-tui";

const ELLIPSIS = "…";
/** An ellipsis follows a word, not a space or a separator. */
const LOOSE_END = /[\s·]+$/;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Measuring and cutting wide text is slow, so both are cached. */
export class Text {
	readonly text: string;
	/** In columns. */
	readonly width: number;
	/** One column per UTF-16 unit. */
	readonly #isSimple: boolean;
	#cutWidth = -1;
	#cutText = "";

	constructor(text: string, isSimple: boolean) {
		this.text = text;
		this.#isSimple = isSimple;
		this.width = isSimple ? text.length : visibleWidth(text);
	}

	/** At most `width` columns, with an ellipsis if cut. */
	cut(width: number): string {
		if (width >= this.width) return this.text;
		if (width === this.#cutWidth) return this.#cutText;
		const start = this.#isSimple
			? this.text.slice(0, Math.max(0, width - 1))
			: sliceByColumn(this.text, 0, width - 1, true);
		this.#cutWidth = width;
		this.#cutText = width < 1 ? "" : start.replace(LOOSE_END, "") + ELLIPSIS;
		return this.#cutText;
	}
}

/** Our own text, in which every character is one column wide. */
export function plainText(text: string): Text {
	return new Text(text, true);
}

/** Any text without control characters. */
export function measured(text: string | Text): Text {
	return typeof text === "string" ? new Text(text, PRINTABLE_ASCII.test(text)) : text;
}

/** At most `width` columns, with an ellipsis if cut. */
export function clip(text: string, width: number): string {
	return text.length * WIDEST <= width ? text : measured(text).cut(width);
}

/** No UTF-16 unit takes more columns; a text this short needs no measuring. */
const WIDEST = 3;

export interface PlaceOptions {
	/** Where in its column the text stands; at the start unless given. */
	readonly align?: "start" | "end";
	/** Colours the text, but not the space beside it. */
	readonly paint?: (text: string) => string;
}

/** Exactly `width` columns: cut or padded. */
export function place(text: string, width: number, { align = "start", paint }: PlaceOptions = {}): string {
	const shown = clip(text, width);
	const space = " ".repeat(Math.max(0, Math.floor(width) - visibleWidth(shown)));
	const painted = paint && shown !== "" ? paint(shown) : shown;
	return align === "start" ? painted + space : space + painted;
}

/** The first of several forms of a text that fits; if none does, as much of the last as there is room for. */
export function firstThatFits(forms: readonly string[], width: number): string {
	return forms.find((form) => visibleWidth(form) <= width) ?? clip(forms.at(-1) ?? "", width);
}

/** The columns that all of them need. */
export function widest(texts: readonly (string | undefined)[]): number {
	return texts.reduce((most, text = "") => Math.max(most, visibleWidth(text)), 0);
}
