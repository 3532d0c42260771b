/** Shows progress while the menu waits for something, and lets the user cancel. */
import type { Component } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../cells/text.ts";
import { type DialogContext, framed } from "./frame.ts";

export interface BusyOptions {
	title: string;
	context: DialogContext;
	onCancel: () => void;
}

export class BusyView implements Component {
	readonly #options: BusyOptions;
	#lines: readonly string[] = [];
	#isCancelled = false;

	constructor(options: BusyOptions) {
		this.#options = options;
	}

	invalidate(): void {}

	setLines(lines: readonly string[]): void {
		this.#lines = lines;
		this.#options.context.redraw();
	}

	handleInput(data: string): void {
		const { context, onCancel } = this.#options;
		if (this.#isCancelled || !context.keys.matches(data, "tui.select.cancel")) return;
		this.#isCancelled = true;
		context.redraw();
		onCancel();
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { title, context } = this.#options;
		const lines = this.#isCancelled ? ["Stopping…"] : this.#lines;
		return framed(context, width, {
			title,
			body: (room) => lines.map((line) => context.theme.fg("muted", clip(sanitize(line), room))),
			hints: this.#isCancelled ? [] : [[["tui.select.cancel"], "cancel"]],
		});
	}
}
