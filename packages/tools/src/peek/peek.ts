/**
 * A look at what a run did, for a model: some lines of its transcript, and how to read on. Bounded however long the
 * transcript is, whatever is in it and whatever was asked for.
 */
import { type Clock, systemClock } from "@pi-subagents/core";
import { clip } from "@pi-subagents/core/internal/base";
import { fence, formatCount } from "@pi-subagents/progress";
import { type LineRange, readLineRange } from "@pi-subagents/runs";
import { type Static, Type } from "typebox";
import { matchLines } from "./match-lines.ts";

const DEFAULT_LINES = 20;
const MAX_LINES = 200;
const LINE_CHARACTERS = 500;
/** With its tags and the sentence at the end it is 20,000. */
const MAX_CHARACTERS = 19_750;

/** How much is searched in one look. */
const SEARCH_BYTES = 4 * 1024 * 1024;
/** Holds more lines than are ever shown. */
const SHOWN_BYTES = 256 * 1024;

export const peekParameter = Type.Object({
	lines: Type.Optional(Type.Integer({ description: `Default ${DEFAULT_LINES}` })),
	regex: Type.Optional(Type.String({ description: "Only matching lines; (?i): any case" })),
	after: Type.Optional(Type.Integer({ description: "After this line; default: the last" })),
});

export interface Peek {
	/** In the order of the file. */
	lines: PeekLine[];
	/** How many lines the file has. */
	total: number;
	/** The `after` that reads on without losing or repeating anything. */
	nextAfter: number;
	/** With `after`, more lines follow; without it, there are earlier ones that were not shown or not searched. */
	isCut: boolean;
	/** There is no such file, or not yet. */
	isMissing: boolean;
}

interface PeekLine {
	number: number;
	text: string;
}

/**
 * Without `after` the last lines, else those that follow it. With `regex` those of them that match, in the last 4 MB or
 * in those that follow `after`. Throws for a `regex` that is wrong or takes too long.
 */
export async function peek(
	path: string,
	{ lines = DEFAULT_LINES, regex = "", after }: Static<typeof peekParameter>,
	{ clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal | undefined } = {},
): Promise<Peek> {
	const most = Math.min(MAX_LINES, Math.max(1, lines));
	const fromEnd = after === undefined;
	const bytes = regex === "" ? SHOWN_BYTES : SEARCH_BYTES;
	const stretch = await readLineRange(path, { after, bytes }, signal);
	const found =
		regex === ""
			? [...stretch.texts.keys()]
			: // One more than is shown, to know whether that is all.
				await matchLines(regex, stretch.texts, { most: most + 1, fromEnd, clock, signal });
	return choose(stretch, found, { most, fromEnd });
}

/** What a model reads. */
export function formatPeek({ lines, total, nextAfter, isCut, isMissing }: Peek): string {
	if (isMissing) return "[nothing has been written yet]";
	const here = lines.length === 0 ? "nothing to show; " : "";
	const earlier = isCut && nextAfter === total ? ", earlier ones omitted (after: 0 starts with the first)" : "";
	const next = nextAfter < total ? `read on with after: ${nextAfter}` : `later lines: after: ${nextAfter}`;
	const shown = lines.length === 0 ? [] : [fence("log", lines.map(format).join("\n"))];
	return [...shown, `[${here}${formatCount(total, "line")} so far${earlier}; ${next}]`].join("\n");
}

/** `found` are indexes of the stretch. */
function choose(
	{ texts, first, total, isMissing }: LineRange,
	found: readonly number[],
	{ most, fromEnd }: { most: number; fromEnd: boolean },
): Peek {
	const candidates = fromEnd ? found.slice(-most) : found.slice(0, most);
	const lines = fitting(
		candidates.map((index) => ({ number: first + index, text: clip(texts[index] ?? "", LINE_CHARACTERS) })),
		{ fromEnd },
	);
	const isAll = lines.length === found.length;
	const read = first - 1 + texts.length;
	const nextAfter = fromEnd || isAll ? read : (lines.at(-1)?.number ?? read);
	const isCut = fromEnd ? !isAll || first > 1 : nextAfter < total;
	return { lines, total, nextAfter, isCut, isMissing };
}

/** As many as there is room for, from one end. */
function fitting(lines: readonly PeekLine[], { fromEnd }: { fromEnd: boolean }): PeekLine[] {
	let room = MAX_CHARACTERS;
	const fits = (line: PeekLine) => {
		room -= format(line).length + 1;
		return room >= 0;
	};
	const ordered = fromEnd ? lines.toReversed() : lines;
	const tooMany = ordered.findIndex((line) => !fits(line));
	const shown = tooMany < 0 ? [...ordered] : ordered.slice(0, tooMany);
	return fromEnd ? shown.reverse() : shown;
}

function format({ number, text }: PeekLine): string {
	return `${number}│ ${text}`;
}
