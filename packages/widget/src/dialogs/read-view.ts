/** A scrollable text. */
import type { Component, Keybinding } from "@earendil-works/pi-tui";
import { type DialogContext, framed, type Hint } from "./frame.ts";
import type { Block } from "./layout.ts";
import { noteView } from "./note-view.ts";

export interface ReadOptions {
	title: string;
	blocks: readonly Block[];
	context: DialogContext;
	done: () => void;
}

/** Lines around the text: the dialog's frame and pi's footer. */
const ROWS_AROUND = 10;
const MIN_ROWS = 5;

export class ReadView implements Component {
	readonly #options: ReadOptions;
	readonly #text: Component;
	#top = 0;
	/** How many lines the last frame had. */
	#count = 0;

	constructor(options: ReadOptions) {
		this.#options = options;
		this.#text = noteView(options.blocks, options.context.theme);
	}

	invalidate(): void {
		this.#text.invalidate();
	}

	handleInput(data: string): void {
		const { context, done } = this.#options;
		const is = (binding: Keybinding) => context.keys.matches(data, binding);
		if (is("tui.select.cancel") || is("tui.select.confirm")) done();
		else if (is("tui.select.up")) this.#scroll(-1);
		else if (is("tui.select.down")) this.#scroll(1);
		else if (is("tui.select.pageUp")) this.#scroll(-this.#pageRows());
		else if (is("tui.select.pageDown")) this.#scroll(this.#pageRows());
		context.redraw();
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { context, title } = this.#options;
		return framed(context, width, { title, hints: HINTS, body: (room) => this.#page(room) });
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
			...(below > 0 || this.#top > 0 ? ["", this.#options.context.theme.fg("dim", place)] : []),
		];
	}

	#scroll(by: number): void {
		this.#top = Math.max(0, Math.min(this.#top + by, this.#count - this.#pageRows()));
	}

	#pageRows(): number {
		return Math.max(MIN_ROWS, this.#options.context.rows() - ROWS_AROUND);
	}
}

const HINTS: readonly Hint[] = [
	[["tui.select.up", "tui.select.down"], "scroll"],
	[["tui.select.cancel"], "back"],
];
