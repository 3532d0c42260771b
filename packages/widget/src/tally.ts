/** How many agents there are, in words: for the header, and for a line that stands for agents without one. */
import { formatCount } from "@pi-subagents/progress";
import { ICONS, SPINNER } from "./glyphs.ts";
import type { Piece } from "./line.ts";
import { type Counts, total } from "./summary.ts";
import { ownText } from "./text.ts";

/** `+4 descendants hidden (2 running, 1 queued, 1 finished)`, or as much of that as fits; its numbers come first. */
export function hiddenPieces(counts: Counts, noun: string, width: number): Piece[] {
	return [{ tone: "note", text: ownText(hiddenText(counts, noun, width)), joint: "" }];
}

function hiddenText(counts: Counts, noun: string, width: number): string {
	const all = total(counts);
	const words = countWords(counts).join(", ");
	const whole = `+${formatCount(all, noun)} hidden (${words})`;
	if (whole.length <= width) return whole;
	const forms = [`+${all} hidden (${words})`, `+${all} hidden (${signs(counts)})`];
	return forms.find((form) => form.length <= width) ?? `+${all} (${signs(counts)})`;
}

/** With the signs of the rows: `2⠋ 1◦ 1✓`. */
function signs({ running, waiting, queued, finished }: Counts): string {
	const parts: [number, string][] = [
		[running, SPINNER[0]],
		[waiting, ICONS.waiting],
		[queued, ICONS.queued],
		[finished, ICONS.completed],
	];
	return parts.flatMap(([count, sign]) => (count > 0 ? [`${count}${sign}`] : [])).join(" ");
}

/** `["2 running", "1 queued"]`. */
function countWords(counts: Counts): string[] {
	return STATES.flatMap((word) => (counts[word] > 0 ? [formatCount(counts[word], word, word)] : []));
}

const STATES = ["running", "waiting", "queued", "finished"] as const;

/** `Agents 3 running · 1 queued · depth 3/4`. Those who are done are told of when nobody else is left. */
export function headerPieces(counts: Counts, depth: number, maxDepth: number | undefined): Piece[] {
	const isActive = total(counts) > counts.finished;
	const words = countWords(isActive ? { ...counts, finished: 0 } : counts);
	const pieces: Piece[] = words.map((text, at) => ({
		tone: text.endsWith("waiting") ? "attention" : "counts",
		text: ownText(text),
		joint: at === 0 ? " " : " · ",
		spare: 2,
	}));
	const text = maxDepth === undefined ? `depth ${depth}` : `depth ${depth}/${maxDepth}`;
	if (depth > 1 && isActive) pieces.push({ tone: "counts", text: ownText(text), joint: " · ", spare: 3 });
	return [titlePiece(counts), ...pieces];
}

/** `Agents 7 total · showing active branch`. */
export function focusHeaderPieces(counts: Counts): Piece[] {
	return [
		titlePiece(counts),
		{ tone: "counts", text: ownText(`${total(counts)} total`), joint: " ", spare: 2 },
		{ tone: "counts", text: ownText("showing active branch"), joint: " · ", spare: 3 },
	];
}

function titlePiece(counts: Counts): Piece {
	return { tone: total(counts) > counts.finished ? "title" : "quiet", text: ownText("Agents"), joint: "" };
}
