/** Shows a person what a command answers: in pi's screen as an entry that the model does not read, elsewhere as text. */
import type { ExtensionAPI, ExtensionCommandContext, Theme } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { within } from "../render/fit.ts";
import { type Block, blockSchema, layout, type Paint, type Tone } from "./layout.ts";

const NOTE = "subagents:note";

const noteSchema = Type.Object({ blocks: Type.Array(blockSchema) });

/** Where nobody tells how wide the reader's screen is. */
const TEXT_COLUMNS = 100;

/** The entries of an earlier session are drawn again, and may have been edited: one that is not whole is left out. */
export function registerNotes(pi: ExtensionAPI): void {
	pi.registerEntryRenderer<unknown>(NOTE, ({ data }, _options, theme) =>
		Check(noteSchema, data) ? noteView(data.blocks, theme) : undefined,
	);
}

export function show(
	pi: ExtensionAPI,
	ctx: ExtensionCommandContext,
	blocks: readonly Block[],
	level: "info" | "error" = "info",
): void {
	const text = () => layout(blocks, TEXT_COLUMNS).join("\n");
	if (ctx.mode === "tui") pi.appendEntry(NOTE, { blocks });
	else if (ctx.hasUI) ctx.ui.notify(text(), level);
	else console.log(text());
}

/** Laid out for the width it is drawn at, and kept until that changes. */
export function noteView(blocks: readonly Block[], theme: Theme): Component {
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

export function paintWith(theme: Theme): Paint {
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
} as const satisfies Record<Exclude<Tone, "strong">, Parameters<Theme["fg"]>[0]>;
