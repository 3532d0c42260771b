/** A single-line input, with an intro and the error of the last attempt. */
import { type Component, type Focusable, Input } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { type DialogContext, framed } from "./frame.ts";
import type { Question } from "./screen.ts";

export interface InputOptions {
	question: Question;
	context: DialogContext;
	/** What the user typed before it was open. */
	typed?: string;
	done: (text: string | undefined) => void;
}

export class InputView implements Component, Focusable {
	readonly #options: InputOptions;
	readonly #input = new Input();

	constructor(options: InputOptions) {
		this.#options = options;
		const value = sanitize(options.question.value ?? "") + (options.typed ?? "");
		if (value !== "") this.#input.handleInput(value); // as if typed, which leaves the cursor at the end
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
		const { context, done } = this.#options;
		if (context.keys.matches(data, "tui.select.cancel")) done(undefined);
		else if (context.keys.matches(data, "tui.select.confirm")) done(this.#input.getValue());
		else {
			this.#input.handleInput(data);
			context.redraw();
		}
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { question, context } = this.#options;
		return framed(context, width, {
			...question,
			body: (room) => this.#input.render(room),
			hints: [
				[["tui.select.confirm"], "accept"],
				[["tui.select.cancel"], "back"],
			],
		});
	}
}
