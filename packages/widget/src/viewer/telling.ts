/** What the viewer says about itself: where it is, what is new, which keys there are. Pure. */
import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { formatCount, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Unfolded } from "./draw.ts";
import type { SearchState } from "./finder.ts";
import type { Layout } from "./frame.ts";
import { type Hint, hintLine } from "./hints.ts";
import { COMMANDS, type Command, keyOf, keysOf, labelOf, type ViewerKeys } from "./keys.ts";
import type { News } from "./pane.ts";
import type { Row } from "./row.ts";
import type { ViewerTheme } from "./theme.ts";

/** Everything there is to say something about. */
export interface Telling {
	theme: ViewerTheme;
	keys: ViewerKeys;
	length: number;
	isLive: boolean;
	isFollowing: boolean;
	news: News;
	search: SearchState | undefined;
	unfolded: Unfolded;
	from: number;
	to: number;
	isStopping: boolean;
	isHelping: boolean;
	/** What to say where there is nothing. */
	empty: string;
	/** What the confirming key does while something is typed or chosen. */
	confirms: string | undefined;
	offered: (command: Command) => boolean;
}

/** The conversation, or what stands in its place. */
export function bodyOf(telling: Telling, rows: readonly Row[], { inner, body }: Layout): readonly Row[] {
	const { isHelping, length, empty, theme } = telling;
	if (!isHelping && length > 0) return rows;
	const text = sanitizeBlock(empty) || "Nothing has been said yet.";
	const lines = isHelping ? helpLines(telling) : wrapTextWithAnsi(text, Math.max(1, inner)).map(theme.muted);
	return Array.from({ length: body }, (_, at) => ({ lead: "", text: lines[at - 1] ?? "" }));
}

function helpLines({ theme, keys, offered }: Telling): string[] {
	const shown = COMMANDS.filter(offered).map((command) => [keysOf(command, keys).join(" "), labelOf(command)] as const);
	const widest = shown.reduce((most, [names]) => Math.max(most, visibleWidth(names)), 0);
	return shown.map(([names, label]) => {
		return `${theme.accent(names)}${" ".repeat(widest - visibleWidth(names) + 2)}${theme.text(label)}`;
	});
}

export function statusOf(telling: Telling): string {
	const { theme, isLive, isFollowing, length, search, to } = telling;
	if (search?.state === "searching") return theme.warning(`searching … ${Math.floor(search.part * 100)}%`);
	if (search?.state === "nowhere") return theme.warning("not found");
	if (length === 0) return isLive ? theme.accent("● live") : "";
	if (isFollowing) return isLive ? theme.accent("● live") : theme.muted("end");
	const where = theme.muted(`${Math.floor(to * 100)}% of ${formatCount(length, "entry", "entries")}`);
	const news = newsText(telling.news);
	return news === "" ? where : `${theme.warning(`↓ ${news}`)} ${theme.muted("·")} ${where}`;
}

function newsText({ entries, rows }: News): string {
	if (entries === 0) return "";
	return rows === undefined ? formatCount(entries, "new entry", "new entries") : formatCount(rows, "new line");
}

export function hintsOf(telling: Telling, width: number): string {
	const { theme, keys, isStopping, isHelping, confirms } = telling;
	if (isStopping) return stopLine(telling, width);
	if (isHelping) return hintLine([{ key: "any key", label: "back", rank: 0 }], width, theme);
	if (confirms !== undefined) return hintLine(promptHints(confirms, keys), width, theme);
	const hint = (command: Command, rank: number, label = labelOf(command)): Hint[] =>
		telling.offered(command) ? [{ key: keyOf(command, keys), label, rank }] : [];
	const hints = [
		...hint("answer", 0),
		...hint("steer", 2),
		...hint("stop", 3),
		...(telling.isFollowing ? [] : hint("end", 5, telling.isLive ? "follow" : "last line")),
		{ key: `${keyOf("up", keys)}${keyOf("down", keys)}`, label: "scroll", rank: 11 },
		...hint("unfold", 7, telling.unfolded.details ? "fold" : "unfold"),
		...hint("thinking", 12),
		...(telling.search ? hint("next", 6, "next") : hint("search", 6)),
		...(telling.search ? hint("previous", 8, "previous") : []),
		...hint("relatives", 9, "agents"),
		...hint("copy", 10),
		...hint("help", 4),
		...hint("close", 1, telling.search ? "end search" : "close"),
	];
	return hintLine(hints, width, theme);
}

/** A letter would be typed, so only what pi has bound counts. */
function promptHints(confirms: string, keys: ViewerKeys): Hint[] {
	return [
		{ key: keyOf("unfold", keys), label: confirms, rank: 0 },
		{ key: keyOf("close", keys), label: "leave", rank: 1 },
	];
}

/** Nobody stops an agent by a slip of the finger. */
function stopLine({ theme, keys }: Telling, width: number): string {
	const key = keyOf("stop", keys);
	const long = `Stop it, and all that it launched?  ${key} again to stop, any other key goes on`;
	const short = `Stop it? ${key} again`;
	return theme.warning(visibleWidth(long) <= width ? long : short);
}

export function questionLines(question: string, width: number, theme: ViewerTheme): string[] {
	return wrapTextWithAnsi(`? ${sanitize(question)}`, Math.max(1, width)).map(theme.warning);
}
