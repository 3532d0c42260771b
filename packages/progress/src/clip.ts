/**
 * Shortens text to a number of UTF-16 units and marks the cut with an ellipsis. It never splits a character.
 * Does not deal with column widths; that is up to the renderer.
 */

const ELLIPSIS = "…";

/** Keeps the start, for sentences, commands and patterns. */
export function clip(text: string, maxLength: number): string {
	if (text.length <= maxLength) return text;
	if (maxLength < 1) return "";
	return text.slice(0, boundary(text, Math.floor(maxLength) - 1, -1)).trimEnd() + ELLIPSIS;
}

/**
 * Copies the start of a text. A slice would keep the whole text in memory.
 *
 * @example
 * ```ts
 * const preview = beginningOf(answer, 500);
 * ```
 */
export function beginningOf(text: string, maxLength: number): string {
	if (text.length <= maxLength) return text;
	return structuredClone(text.slice(0, boundary(text, Math.max(0, Math.floor(maxLength)), -1)));
}

/** Keeps the end, for paths, whose file name matters most. */
export function clipStart(text: string, maxLength: number): string {
	if (text.length <= maxLength) return text;
	if (maxLength < 1) return "";
	return ELLIPSIS + text.slice(boundary(text, text.length - Math.floor(maxLength) + 1, 1)).trimStart();
}

/** How many units of a visible character are considered. A longer one (many combining marks) is cut inside. */
const REACH = 32;

/** The position nearest to `cut`, in one direction, that is between two visible characters. */
function boundary(text: string, cut: number, step: -1 | 1): number {
	for (let at = cut; Math.abs(at - cut) < REACH; at += step) {
		if (!isInsideCharacter(text, at)) return at;
	}
	return isInsidePair(text, cut) ? cut + step : cut;
}

/** `Intl.Segmenter` handles more scripts, but its first use costs about 10 ms. */
function isInsideCharacter(text: string, at: number): boolean {
	if (at <= 0 || at >= text.length || text.charCodeAt(at) < FIRST_COMBINING) return false;
	if (isInsidePair(text, at) || text[at - 1] === JOINER) return true;
	const next = text.slice(at, at + 2);
	return EXTENDING.test(next) || (FLAG_LETTER.test(next) && flagLettersBefore(text, at) % 2 === 1);
}

const FIRST_COMBINING = 0x300;
const JOINER = "\u200d";
const EXTENDING = /^(?:\p{M}|\p{Emoji_Modifier}|\u200d)/u;
const FLAG_LETTER = /^[\u{1f1e6}-\u{1f1ff}]/u;

function flagLettersBefore(text: string, end: number): number {
	let count = 0;
	for (let at = end - 2; at >= 0 && count < REACH && FLAG_LETTER.test(text.slice(at, at + 2)); at -= 2) count++;
	return count;
}

function isInsidePair(text: string, at: number): boolean {
	const low = text.charCodeAt(at);
	const high = text.charCodeAt(at - 1);
	return low >= 0xdc00 && low <= 0xdfff && high >= 0xd800 && high <= 0xdbff;
}
