/** The viewer's status, help and key hints. Pure. */
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { formatCount, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { lineOf } from "../cells/line.ts";
import { firstThatFits } from "../cells/text.ts";
import { layout } from "../dialogs/layout.ts";
import type { Unfolded } from "./content/draw.ts";
import type { Row } from "./content/row.ts";
import type { ViewerTheme } from "./content/theme.ts";
import type { SearchState } from "./finder.ts";
import type { Layout } from "./frame.ts";
import { COMMANDS, type Command, keyOf, keysOf, labelOf, type ViewerKeys } from "./keys.ts";
import type { Unseen } from "./pane.ts";

/** The viewer's state, as far as these lines show it. */
export interface ViewerState {
	theme: ViewerTheme;
	keys: ViewerKeys;
	length: number;
	isLive: boolean;
	isFollowing: boolean;
	unseen: Unseen;
	search: SearchState | undefined;
	unfolded: Unfolded;
	from: number;
	to: number;
	isPaused: boolean;
	isStopping: boolean;
	isHelping: boolean;
	/** The text for an empty conversation. */
	empty: string;
	/** The label of the confirm key while a prompt is open. */
	confirmLabel: string | undefined;
	offered: (command: Command) => boolean;
}

/** The conversation, or the text for an empty one. */
export function bodyOf(state: ViewerState, rows: readonly Row[], { inner, body }: Layout): readonly Row[] {
	const { length, empty, theme } = state;
	if (length > 0) return rows;
	const text = sanitizeBlock(empty) || "No messages yet.";
	const lines = wrapTextWithAnsi(text, Math.max(1, inner)).map(theme.muted);
	return Array.from({ length: body }, (_, at) => ({ lead: "", text: lines[at - 1] ?? "" }));
}

export interface HelpView {
	rows: readonly Row[];
	/** The first line shown, within what there is. */
	top: number;
	/** The visible fraction. */
	from: number;
	to: number;
}

/** The help from this line on, as far as the screen goes. */
export function helpView(state: ViewerState, { inner, body }: Layout, wanted: number): HelpView {
	const lines = helpLines(state, inner);
	const top = Math.max(0, Math.min(wanted, lines.length - body));
	const rows = Array.from({ length: body }, (_, at) => ({ lead: "", text: lines[top + at] ?? "" }));
	return { rows, top, from: top / lines.length, to: Math.min(1, (top + body) / lines.length) };
}

/** Keys and what they do, in two columns, or below each other where those are too narrow. */
function helpLines({ theme, keys, offered }: ViewerState, width: number): string[] {
	const rows = COMMANDS.filter(offered).map((command) => ({
		lead: [{ text: keysOf(command, keys).join(" "), tone: "accent" as const }],
		body: [{ text: labelOf(command) }],
	}));
	return layout([{ rows }], width, (tone, text) => (tone === "accent" ? theme.accent(text) : theme.text(text)));
}

export function statusOf(state: ViewerState): string {
	const { theme, search } = state;
	if (search?.state === "searching") return theme.warning(`searching … ${Math.floor(search.part * 100)}%`);
	if (search?.state === "nowhere") return theme.warning("not found");
	const place = search?.place ? `${theme.accent(`${search.place.at}/${search.place.of}`)} ${theme.muted("·")} ` : "";
	return `${place}${positionOf(state)}`;
}

function positionOf(state: ViewerState): string {
	const { theme, isLive, isFollowing, length, to } = state;
	if (length === 0) return isLive ? theme.accent("● live") : "";
	if (isFollowing) return isLive ? theme.accent("● live") : theme.muted("end");
	const where = theme.muted(`${Math.floor(to * 100)}% of ${formatCount(length, "entry", "entries")}`);
	const unseen = unseenText(state.unseen);
	return unseen === "" ? where : `${theme.warning(`↓ ${unseen}`)} ${theme.muted("·")} ${where}`;
}

function unseenText({ entries, rows }: Unseen): string {
	if (entries === 0) return "";
	return rows === undefined ? formatCount(entries, "new entry", "new entries") : formatCount(rows, "new line");
}

export function hintsOf(state: ViewerState, width: number): string {
	const { theme, keys, isStopping, isHelping, confirmLabel } = state;
	if (isStopping) return stopLine(state, width);
	if (isHelping) return hintLine(helpHints(state), width, theme);
	if (confirmLabel !== undefined) return hintLine(promptHints(confirmLabel, keys), width, theme);
	const hint = (command: Command, rank: number, label = labelOf(command)): Hint[] =>
		state.offered(command) ? [{ key: keyOf(command, keys), label, rank }] : [];
	const hints = [
		...hint("answer", 0),
		...hint("steer", 2),
		...hint("stop", 3),
		...hint("pause", 3.1, state.isPaused ? "continue" : "pause"),
		...hint("skip", 3.2),
		...hint("retry", 3.3),
		...(state.isFollowing ? [] : hint("end", 5, state.isLive ? "follow" : "last line")),
		{ key: `${keyOf("up", keys)}${keyOf("down", keys)}`, label: "scroll", rank: 11 },
		...hint("unfold", 7, state.unfolded.details ? "fold" : "unfold"),
		...hint("thinking", 12, "thinking"),
		...(state.search ? hint("next", 6, "next") : hint("search", 6)),
		...(state.search ? hint("previous", 8, "previous") : []),
		...(state.offered("previousAgent") || state.offered("nextAgent")
			? [{ key: `${keyOf("previousAgent", keys)}${keyOf("nextAgent", keys)}`, label: "agent", rank: 9 }]
			: []),
		...hint("relatives", 13, "family"),
		...hint("copy", 10),
		...hint("help", 4, "keys"),
		...hint("close", 1, state.search ? "end search" : "close"),
	];
	return hintLine(hints, width, theme);
}

function helpHints({ keys, from, to }: ViewerState): Hint[] {
	const scroll = { key: `${keyOf("up", keys)}${keyOf("down", keys)}`, label: "scroll", rank: 1 };
	return [...(from > 0 || to < 1 ? [scroll] : []), { key: "any other key", label: "back", rank: 0 }];
}

/** Letters are input here, so only pi's bindings are shown. */
function promptHints(confirmLabel: string, keys: ViewerKeys): Hint[] {
	return [
		{ key: keyOf("unfold", keys), label: confirmLabel, rank: 0 },
		{ key: keyOf("close", keys), label: "cancel", rank: 1 },
	];
}

/** A second press is required, so that no agent is stopped by accident. */
function stopLine({ theme, keys }: ViewerState, width: number): string {
	const key = keyOf("stop", keys);
	const long = `Stop it and its sub-agents?  ${key} again to stop, any other key cancels`;
	const short = `Stop it? ${key} again`;
	return theme.warning(firstThatFits([long, short], width));
}

export function questionLines(question: string, width: number, theme: ViewerTheme): string[] {
	return wrapTextWithAnsi(`? ${sanitize(question)}`, Math.max(1, width)).map(theme.warning);
}

interface Hint {
	key: string;
	label: string;
	/** The lowest ranks are dropped last. */
	rank: number;
}

/** As many as fit, in the order given; the highest ranks are dropped first, and the lowest stays. */
function hintLine(hints: readonly Hint[], width: number, theme: ViewerTheme): string {
	const known = hints.filter(({ key }) => key !== "");
	const lowest = Math.min(...known.map(({ rank }) => rank));
	const cells = known.map(({ key, label, rank }) => {
		const text = `${key} ${label}`;
		const paint = (shown: string) =>
			shown === text ? `${theme.accent(key)} ${theme.muted(label)}` : theme.muted(shown);
		return { text, paint, ...(rank === lowest ? {} : { dropOrder: rank }) };
	});
	return lineOf(cells, width);
}
