/** Texts that count agents: the header, and the line for hidden agents. */
import { formatCount, SPINNER, STATUS_LOOKS } from "@pi-subagents/progress";
import { firstThatFits, plainText } from "../cells/text.ts";
import { type Counts, total } from "../tree/counts.ts";
import { ICONS } from "./glyphs.ts";
import type { Piece } from "./pieces.ts";

/** `+4 descendants hidden (2 running, 1 queued, 1 finished)`, or as much of that as fits; its numbers come first. */
export function hiddenPieces(counts: Counts, noun: string, width: number): Piece[] {
	return [{ tone: "note", text: plainText(hiddenText(counts, noun, width)), separator: "" }];
}

function hiddenText(counts: Counts, noun: string, width: number): string {
	const all = total(counts);
	const words = countTexts(counts).join(", ");
	const forms = [
		`+${formatCount(all, noun)} hidden (${words})`,
		`+${all} hidden (${words})`,
		`+${all} hidden (${signs(counts)})`,
		`+${all} (${signs(counts)})`,
	];
	return firstThatFits(forms, width);
}

/** With the icons of the rows: `2⠋ 1◦ 1✓`. */
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
function countTexts(counts: Counts): string[] {
	return STATES.flatMap(([state, word]) => (counts[state] > 0 ? [formatCount(counts[state], word, word)] : []));
}

/** Agents that settled, however they did, are counted together. */
const STATES = [
	["running", STATUS_LOOKS.running.word],
	["waiting", STATUS_LOOKS.waiting.word],
	["queued", STATUS_LOOKS.queued.word],
	["finished", "finished"],
] as const;

/** `Agents 3 running · 1 queued · depth 3/4`. Finished agents are counted only when none is active. */
export function headerPieces(counts: Counts, depth: number, maxDepth: number | undefined): Piece[] {
	const isActive = total(counts) > counts.finished;
	const words = countTexts(isActive ? { ...counts, finished: 0 } : counts);
	const pieces: Piece[] = words.map((text, at) => ({
		tone: text.endsWith(STATUS_LOOKS.waiting.word) ? "attention" : "counts",
		text: plainText(text),
		separator: at === 0 ? " " : " · ",
		dropOrder: 2,
	}));
	const text = maxDepth === undefined ? `depth ${depth}` : `depth ${depth}/${maxDepth}`;
	if (depth > 1 && isActive) pieces.push({ tone: "counts", text: plainText(text), separator: " · ", dropOrder: 3 });
	return [titlePiece(counts), ...pieces];
}

/** `Agents 7 total · showing active branch`. */
export function focusHeaderPieces(counts: Counts): Piece[] {
	return [
		titlePiece(counts),
		{ tone: "counts", text: plainText(`${total(counts)} total`), separator: " ", dropOrder: 2 },
		{ tone: "counts", text: plainText("showing active branch"), separator: " · ", dropOrder: 3 },
	];
}

function titlePiece(counts: Counts): Piece {
	return { tone: total(counts) > counts.finished ? "title" : "quiet", text: plainText("Agents"), separator: "" };
}
