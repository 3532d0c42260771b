/** The frame of all menu dialogs: border, title and key hints. */

import { type Keybinding, type KeybindingsManager, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { type Cell, flow, within } from "../cells/line.ts";
import { clip, firstThatFits } from "../cells/text.ts";
import { layout } from "./layout.ts";
import { type DialogTheme, paintWith } from "./note-view.ts";

/** What pi provides to a dialog. */
export interface DialogContext {
	theme: DialogTheme;
	keys: Pick<KeybindingsManager, "matches" | "getKeys">;
	/** The height of the terminal. */
	rows: () => number;
	redraw: () => void;
}

export interface Frame {
	title: string;
	intro?: string | undefined;
	fault?: string | undefined;
	/** The lines between title and keys. */
	body: (width: number) => string[];
	hints: readonly Hint[];
}

/** Keybindings, or a character, and what they do; no keys for plain text. */
export type Hint = readonly [keys: readonly Keybinding[] | string, does: string];

const MAX_INTRO_LINES = 6;
/** Longer lines are hard to read. */
const MAX_TEXT_COLUMNS = 100;
/** Enough to fill the lines with any text, without wrapping all of a long one. */
const CHARACTERS_PER_COLUMN = 4;

export function framed(
	{ theme, keys }: DialogContext,
	width: number,
	{ title, intro, fault, body, hints }: Frame,
): string[] {
	const margin = width > 20 ? " " : "";
	const room = Math.max(1, width - 2 * margin.length);
	const border = theme.fg("border", "─".repeat(Math.max(0, width)));
	const shown = hints.flatMap((hint) => {
		const names = keysOf(hint, keys);
		if (names === undefined) return [];
		return [hintCell(names, hint[1], theme)];
	});
	const lines = [
		theme.fg("accent", theme.bold(shortened(sanitize(title), room))),
		...wrapped(intro, room, MAX_INTRO_LINES).map((line) => theme.fg("muted", line)),
		...wrapped(fault, room, MAX_INTRO_LINES).map((line) => theme.fg("error", line)),
		"",
		...body(room),
		"",
		...flow(shown, room),
	];
	return within(width, [border, ...lines.map((line) => margin + line), border]);
}

/** The keys of a hint, with nothing between them; undefined if the user has unbound one. */
function keysOf([bindings]: Hint, keys: DialogContext["keys"]): string | undefined {
	const names =
		typeof bindings === "string" ? [bindings] : bindings.map((binding) => keyName(keys.getKeys(binding)[0]));
	return names.includes("") ? undefined : names.join("");
}

/** A line for each hint: its keys, then what they do, in two columns. */
export function helpLines(hints: readonly Hint[], { theme, keys }: DialogContext, width: number): string[] {
	const rows = hints.flatMap((hint) => {
		const names = keysOf(hint, keys);
		return names === undefined ? [] : [{ lead: [{ text: names, tone: "accent" as const }], body: [{ text: hint[1] }] }];
	});
	return layout([{ rows }], width, paintWith(theme));
}

/** At most `most` lines; the last ends with an ellipsis if cut. */
export function wrapped(text: string | undefined, width: number, most: number): string[] {
	const room = Math.max(1, Math.min(width, MAX_TEXT_COLUMNS));
	const clean = sanitizeBlock((text ?? "").slice(0, most * room * CHARACTERS_PER_COLUMN)).trim();
	if (clean === "") return [];
	const lines = wrapTextWithAnsi(clean, room);
	if (lines.length <= most) return lines;
	return [...lines.slice(0, most - 1), clip(`${lines[most - 1] ?? ""}…`, room)];
}

/** Shortens a breadcrumb from the left, because its end matters most. */
function shortened(title: string, width: number): string {
	const names = title.split(" › ");
	const ways = names.map((_, from) => (from === 0 ? title : ["…", ...names.slice(from)].join(" › ")));
	return firstThatFits([...ways, names.at(-1) ?? ""], width);
}

function hintCell(names: string, does: string, theme: DialogTheme): Cell {
	const text = names === "" ? does : `${names} ${does}`;
	const paint = (shown: string) =>
		names !== "" && shown === text ? `${theme.fg("dim", names)} ${theme.fg("muted", does)}` : theme.fg("muted", shown);
	return { text, paint, separator: "   " };
}

const KEY_NAMES = new Map([
	["up", "↑"],
	["down", "↓"],
	["escape", "esc"],
	["pageUp", "pgup"],
	["pageDown", "pgdn"],
]);

function keyName(key: string | undefined): string {
	return KEY_NAMES.get(key ?? "") ?? key ?? "";
}
