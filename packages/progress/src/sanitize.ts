/**
 * Makes untrusted text safe to show in a terminal.
 * One pass over the characters, linear on malicious input: no backtracking expressions.
 */
import { clip } from "./clip.ts";

/**
 * Sanitizes text into one line: removes control characters, terminal sequences and bidirectional overrides, and collapses
 * whitespace. Of an unterminated sequence only the introducer is removed, so that it cannot hide the following text.
 * Anything that is not a string gives `""`.
 *
 * @example
 * ```ts
 * sanitize("\x1b[31mred\x1b[0m\n  text"); // "red text"
 * ```
 */
export function sanitize(text: string): string {
	return typeof text === "string" ? cleanLine(text, Number.POSITIVE_INFINITY).trim() : "";
}

/**
 * Like {@link sanitize}, for several lines: keeps LF, turns CRLF and CR into LF and a tab into four spaces, and keeps all
 * other spacing.
 *
 * @example
 * ```ts
 * sanitizeBlock("one\r\n\ttwo\x07"); // "one\n    two"
 * ```
 */
export function sanitizeBlock(text: string): string {
	return typeof text === "string" ? cleanBlock(text) : "";
}

/** {@link sanitize} and {@link clip} in one step, which stops reading at `maxLength`. Not public. */
export function sanitizeClipped(text: unknown, maxLength: number): string {
	if (typeof text !== "string") return "";
	// Two more than the limit: a trailing space is trimmed, and the next character still shows that text was cut.
	return clip(cleanLine(text, maxLength + 2).trim(), maxLength);
}

function cleanLine(text: string, limit: number): string {
	let clean = "";
	let from = 0; // start of the text that is kept unchanged
	let at = 0;
	let spaced = true; // the last kept character is a space, or nothing is kept yet
	let stop = Math.min(text.length, limit); // where the text or the limit ends
	while (at < stop) {
		const code = text.charCodeAt(at);
		if (code > SPACE && code < 0x7f) {
			spaced = false;
			at++;
			continue;
		}
		const end = code === SPACE ? (spaced ? at + 1 : at) : dirtyEnd(text, at, code);
		if (end === at) {
			spaced = code === SPACE;
			at += isHighSurrogate(code) ? 2 : 1;
			continue;
		}
		clean += text.slice(from, at);
		if (isLoneSurrogate(code, end - at)) {
			clean += REPLACEMENT;
			spaced = false;
		} else if (!spaced && isSpacing(code)) {
			clean += " ";
			spaced = true;
		}
		from = at = end;
		stop = Math.min(text.length, end + limit - clean.length);
	}
	return from === 0 && at === text.length ? text : clean + text.slice(from, at);
}

function cleanBlock(text: string): string {
	let clean = "";
	let from = 0;
	let at = 0;
	while (at < text.length) {
		const code = text.charCodeAt(at);
		const end = code === LF ? at : dirtyEnd(text, at, code);
		if (end === at) {
			at += isHighSurrogate(code) ? 2 : 1;
			continue;
		}
		clean += text.slice(from, at);
		if (code === TAB) clean += "    ";
		// The LF of a CRLF is kept on its own.
		else if (code === CR) clean += text.charCodeAt(end) === LF ? "" : "\n";
		else if (isSpacing(code)) clean += " ";
		else if (isLoneSurrogate(code, end - at)) clean += REPLACEMENT;
		from = at = end;
	}
	return from === 0 ? text : clean + text.slice(from);
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const SPACE = 0x20;
const BEL = 0x07;
const ST = 0x9c;
const REPLACEMENT = "\ufffd";

/** The end of the part to remove, or `at` if the character may stay. */
function dirtyEnd(text: string, at: number, code: number): number {
	if (code >= 0x20 && code < 0x7f) return at;
	if (code === ESC) return escapeEnd(text, at);
	if (code < 0x20) return at + 1;
	if (code < 0xa0) return controlEnd(text, at, code);
	if (code < 0x061c || isBetween(code, 0x2070, 0xd7ff)) return at; // most scripts
	if (code >= 0xd800 && code <= 0xdfff) return surrogateEnd(text, at, code);
	return isInvisibleControl(code) ? at + 1 : at;
}

function escapeEnd(text: string, at: number): number {
	const next = text.charCodeAt(at + 1);
	// `ESC [` and the 8-bit CSI are equivalent, 0x40 apart; so are the others.
	if (next >= 0x40 && next <= 0x5f) return sequenceEnd(text, at + 2, next + 0x40) ?? at + 1 + introducerTail(next);
	// Selects a character set, as `tput sgr0` does: `ESC ( B`.
	const final = text.charCodeAt(at + 2);
	if (next >= 0x28 && next <= 0x2b && ((final >= 0x30 && final <= 0x39) || (final >= 0x41 && final <= 0x5a)))
		return at + 3;
	return at + 1;
}

function controlEnd(text: string, at: number, code: number): number {
	return sequenceEnd(text, at + 1, code) ?? at + 1;
}

/** Of a stray `ESC [`, `ESC ]` or `ESC \\` both characters are removed; any other letter after ESC is text. */
function introducerTail(next: number): number {
	const code = next + 0x40;
	return code === CSI || code === ST || isStringIntroducer(code) ? 1 : 0;
}

const CSI = 0x9b;

/** DCS, SOS, OSC, PM, APC: everything up to the terminator is payload. */
function isStringIntroducer(code: number): boolean {
	return code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;
}

function sequenceEnd(text: string, at: number, introducer: number): number | undefined {
	if (introducer === CSI) return csiEnd(text, at);
	return isStringIntroducer(introducer) ? stringEnd(text, at) : undefined;
}

function csiEnd(text: string, start: number): number | undefined {
	let at = start;
	while (isBetween(text.charCodeAt(at), 0x30, 0x3f)) at++;
	while (isBetween(text.charCodeAt(at), 0x20, 0x2f)) at++;
	return isBetween(text.charCodeAt(at), 0x40, 0x7e) ? at + 1 : undefined;
}

/** BEL ends all of them, as in terminals and pi's cursor marker. Any other control character means: not terminated. */
function stringEnd(text: string, start: number): number | undefined {
	for (let at = start; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === BEL || code === ST) return at + 1;
		if (code === ESC) return text[at + 1] === "\\" ? at + 2 : undefined;
		if (code < 0x20 || isBetween(code, 0x7f, 0x9f)) return undefined;
	}
	return undefined;
}

function surrogateEnd(text: string, at: number, code: number): number {
	const next = text.charCodeAt(at + 1);
	if (!isHighSurrogate(code) || !isBetween(next, 0xdc00, 0xdfff)) return at + 1;
	// Tag characters U+E0000-E007F spell invisible text.
	return code === 0xdb40 && next <= 0xdc7f ? at + 2 : at;
}

/** Bidirectional controls, line separators, BOM and interlinear annotation. */
function isInvisibleControl(code: number): boolean {
	return (
		code === 0x061c ||
		isBetween(code, 0x200e, 0x200f) ||
		isBetween(code, 0x2028, 0x202e) ||
		isBetween(code, 0x2066, 0x206f) ||
		code === 0xfeff ||
		isBetween(code, 0xfff9, 0xfffb)
	);
}

function isSpacing(code: number): boolean {
	return isBetween(code, TAB, CR) || code === SPACE || code === 0x85 || code === 0x2028 || code === 0x2029;
}

function isHighSurrogate(code: number): boolean {
	return isBetween(code, 0xd800, 0xdbff);
}

/** A pair has two units, so a single removed unit was alone. */
function isLoneSurrogate(code: number, length: number): boolean {
	return length === 1 && isBetween(code, 0xd800, 0xdfff);
}

function isBetween(code: number, low: number, high: number): boolean {
	return code >= low && code <= high;
}
