/** One line of text to type, with what it is for and what was wrong with the last try. */
import { type Component, type Focusable, Input } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { framed, type Look } from "./frame.ts";
import type { Question } from "./screen.ts";

export interface InputOptions {
	question: Question;
	look: Look;
	done: (text: string | undefined) => void;
}

export class InputView implements Component, Focusable {
	readonly #options: InputOptions;
	readonly #input = new Input();

	constructor(options: InputOptions) {
		this.#options = options;
		const value = sanitize(options.question.value ?? "");
		if (value !== "") this.#input.handleInput(value); // as if it were typed, which leaves the cursor behind it
	}

	get focused(): boolean {
		return this.#input.focused;
	}

	set focused(isFocused: boolean) {
		this.#input.focused = isFocused;
	}

	invalidate(): void {
		this.#input.invalidate();
	}

	handleInput(data: string): void {
		const { look, done } = this.#options;
		if (look.keys.matches(data, "tui.select.cancel")) done(undefined);
		else if (look.keys.matches(data, "tui.select.confirm")) done(this.#input.getValue());
		else {
			this.#input.handleInput(data);
			look.redraw();
		}
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { question, look } = this.#options;
		return framed(look, width, {
			...question,
			body: (room) => this.#input.render(room),
			hints: [
				[["tui.select.confirm"], "accept"],
				[["tui.select.cancel"], "back"],
			],
		});
	}
}
