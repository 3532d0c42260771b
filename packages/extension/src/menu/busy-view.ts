/** Says what goes on while the menu waits for something, and lets the person give it up. */
import type { Component } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../render/fit.ts";
import { framed, type Look } from "./frame.ts";

export interface BusyOptions {
	title: string;
	look: Look;
	onCancel: () => void;
}

export class BusyView implements Component {
	readonly #options: BusyOptions;
	#lines: readonly string[] = [];
	#isGivenUp = false;

	constructor(options: BusyOptions) {
		this.#options = options;
	}

	invalidate(): void {}

	tell(lines: readonly string[]): void {
		this.#lines = lines;
		this.#options.look.redraw();
	}

	handleInput(data: string): void {
		const { look, onCancel } = this.#options;
		if (this.#isGivenUp || !look.keys.matches(data, "tui.select.cancel")) return;
		this.#isGivenUp = true;
		look.redraw();
		onCancel();
	}

	render(width: number): string[] {
		if (width <= 0) return [];
		const { title, look } = this.#options;
		const lines = this.#isGivenUp ? ["Stopping…"] : this.#lines;
		return framed(look, width, {
			title,
			body: (room) => lines.map((line) => look.theme.fg("muted", clip(sanitize(line), room))),
			hints: this.#isGivenUp ? [] : [[["tui.select.cancel"], "give it up"]],
		});
	}
}
