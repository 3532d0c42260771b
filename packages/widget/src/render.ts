/** Turns a layout into lines for a terminal: signs, connectors and colours. Pure. */
import { BRANCH, CROPPED, DETAIL, ICONS, LAST_BRANCH, NO_RAIL, RAIL, SPINNER } from "./glyphs.ts";
import type { Layout, Row, Tone } from "./layout.ts";
import type { Theme } from "./theme.ts";

/** One line for each row. Without a theme they are plain text. */
export function render({ rows, width }: Layout, theme: Theme = {}): string[] {
	return rows.map((row) => line(row, width, theme));
}

function line(row: Row, width: number, theme: Theme): string {
	const brush = new Brush(theme);
	const connectors = connectorsOf(row);
	brush.add("line", connectors.slice(0, width));
	if (connectors.length > width) return brush.text();
	if (row.icon !== undefined) brush.add(row.icon, `${iconOf(row)} `.slice(0, width - connectors.length));
	for (const { joint, tone, text } of row.segments) {
		if (joint !== "") brush.add(joint === " " ? undefined : "line", joint);
		brush.add(tone, text);
	}
	return brush.text();
}

/** Paints neighbours that look the same in one go: a colour takes more bytes than a word, for every line that changes. */
class Brush {
	readonly #theme: Theme;
	#painted = "";
	#paint: Theme[Tone];
	#pending = "";

	constructor(theme: Theme) {
		this.#theme = theme;
	}

	/** A space may have any colour, so it needs no tone. */
	add(tone: Tone | undefined, text: string): void {
		const paint = tone === undefined ? this.#paint : this.#theme[tone];
		if (paint !== this.#paint) {
			this.#painted = this.text();
			this.#pending = "";
			this.#paint = paint;
		}
		this.#pending += text;
	}

	text(): string {
		if (this.#pending === "") return this.#painted;
		return this.#painted + (this.#paint?.(this.#pending) ?? this.#pending);
	}
}

/** Every sign is one column and one unit long, so columns can be counted by units. */
function connectorsOf({ role, rails, isLast, isCropped }: Row): string {
	if (role === "header") return "";
	const lines = rails.map((isOpen, at) => (isCropped && at === 0 ? CROPPED : isOpen ? RAIL : NO_RAIL)).join("");
	if (role === "detail") return lines + DETAIL;
	return lines + (isLast ? LAST_BRANCH : BRANCH);
}

function iconOf({ icon = "running", frame = 0 }: Row): string {
	return icon === "running" ? (SPINNER[frame % SPINNER.length] ?? ICONS.running) : ICONS[icon];
}
