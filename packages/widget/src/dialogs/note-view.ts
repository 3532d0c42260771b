/** Renders blocks of text with a theme. */
import type { Component } from "@earendil-works/pi-tui";
import { within } from "../cells/line.ts";
import { type Block, layout, type Paint, type Tone } from "./layout.ts";

/** The part of pi's theme that dialogs use. */
export interface DialogTheme {
	fg(colour: "accent" | "border" | "dim" | "error" | "muted" | "success" | "text" | "warning", text: string): string;
	bold(text: string): string;
}

/** Cached until the width changes. */
export function noteView(blocks: readonly Block[], theme: DialogTheme): Component {
	let drawn: { width: number; lines: string[] } | undefined;
	return {
		invalidate() {
			drawn = undefined;
		},
		render(width) {
			if (drawn?.width !== width) {
				const margin = width > 20 ? " " : "";
				const lines = layout(blocks, width - 2 * margin.length, paintWith(theme)).map((line) => margin + line);
				drawn = { width, lines: within(width, lines) };
			}
			return drawn.lines;
		},
	};
}

export function paintWith(theme: DialogTheme): Paint {
	return (tone, text) => {
		if (tone === undefined) return theme.fg("text", text);
		return tone === "strong" ? theme.bold(text) : theme.fg(COLOURS[tone], text);
	};
}

const COLOURS = {
	muted: "muted",
	accent: "accent",
	good: "success",
	warn: "warning",
	bad: "error",
} as const satisfies Record<Exclude<Tone, "strong">, Parameters<DialogTheme["fg"]>[0]>;
