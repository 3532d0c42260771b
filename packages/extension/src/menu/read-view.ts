/** A text to read, as much of it as the screen holds at once. */
import type { Component, Keybinding } from "@earendil-works/pi-tui";
import type { Block } from "../commands/layout.ts";
import { noteView } from "../commands/note.ts";
import { framed, type Hint, type Look } from "./frame.ts";

export interface ReadOptions {
	title: string;
	blocks: readonly Block[];
	look: Look;
	done: () => void;
}

/** What a dialog needs around the text, with pi's footer. */
const ROWS_AROUND = 10;
const LEAST_ROWS = 5;

export class ReadView implements Component {
	readonly #options: ReadOptions;
	readonly #text: Component;
	#top = 0;
	/** How many lines there were when it was last drawn. */
	#count = 0;

	constructor(options: ReadOptions) {
		this.#options = options;
		this.#text = noteView(options.blocks, options.look.theme);
	}

	invalidate(): void {
		this.#text.invalidate();
	}

	handleInput(data: string): void {
		const { look, done } = this.#options;
		const is = (binding: Keybinding) => look.keys.matches(data, binding);
		if (is("tui.select.cancel") || is("tui.select.confirm")) done();
		else if (is("tui.select.up")) this.#scroll(-1);
		else if (is("tui.select.down")) this.#scroll(1);
		else if (is("tui.select.pageUp")) this.#scroll(-this.#pageRows());
		else if (is("tui.select.pageDown")) this.#scroll(this.#pageRows());
		look.redraw();
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { look, title } = this.#options;
		return framed(look, width, { title, hints: HINTS, body: (room) => this.#page(room) });
	}

	#page(width: number): string[] {
		const lines = this.#text.render(width);
		const page = this.#pageRows();
		this.#count = lines.length;
		this.#scroll(0); // the terminal may have grown
		const below = lines.length - this.#top - page;
		const place = `  ${this.#top + 1}–${Math.min(lines.length, this.#top + page)} of ${lines.length}`;
		return [
			...lines.slice(this.#top, this.#top + page),
			...(below > 0 || this.#top > 0 ? ["", this.#options.look.theme.fg("dim", place)] : []),
		];
	}

	#scroll(by: number): void {
		this.#top = Math.max(0, Math.min(this.#top + by, this.#count - this.#pageRows()));
	}

	#pageRows(): number {
		return Math.max(LEAST_ROWS, this.#options.look.rows() - ROWS_AROUND);
	}
}

const HINTS: readonly Hint[] = [
	[["tui.select.up", "tui.select.down"], "scroll"],
	[["tui.select.cancel"], "back"],
];
