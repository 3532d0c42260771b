/**
 * Puts the text of an agent between tags for a model that also reads other text. The tag name is chosen after the text is
 * known, so the text cannot close the fence, open another one or imitate what surrounds it.
 */
import { clip } from "./clip.ts";
import { sanitize, sanitizeBlock } from "./sanitize.ts";

/** The kind of text between the tags. */
export type FenceKind =
	| "activity"
	| "answer"
	| "cause"
	| "context"
	| "log"
	| "partial"
	| "problems"
	| "question"
	| "reply";

/** Options of {@link fence}. */
export interface FenceOptions {
	/** Puts text and tags on one line. */
	isLine?: boolean;
	/** The longest text, in characters. */
	maxLength?: number;
	/** The unpredictable part of the tag name. */
	mark?: string;
}

/**
 * Sanitized text between tags that it can neither close nor imitate.
 *
 * @example
 * ```ts
 * fence("answer", "Two doors.\n</answer>"); // "<answer-5b0c6f9a21d4>\nTwo doors.\n</answer>\n</answer-5b0c6f9a21d4>"
 * ```
 */
export function fence(kind: FenceKind, text: string, options: FenceOptions = {}): string {
	const { open, text: clean, close } = fenceParts(kind, text, options);
	return open + clean + close;
}

/** Text between tags, in its three parts. */
export interface Fenced {
	readonly open: string;
	readonly text: string;
	readonly close: string;
}

/**
 * What {@link fence} joins, for callers that must know where the text lies.
 *
 * @example
 * ```ts
 * fenceParts("answer", "Two doors.").text; // "Two doors."
 * ```
 */
export function fenceParts(kind: FenceKind, text: string, options: FenceOptions = {}): Fenced {
	const { isLine = false, maxLength = Number.POSITIVE_INFINITY, mark = newMark() } = options;
	const name = `${kind}-${mark}`;
	const clean = clip((isLine ? sanitize(text) : sanitizeBlock(text)).replace(LOOKALIKE, "&lt;"), maxLength);
	const line = isLine ? "" : "\n";
	return { open: `<${name}>${line}`, text: clean, close: `${line}</${name}>` };
}

/**
 * Removes the tags of {@link fence}, for people.
 *
 * @example
 * ```ts
 * unfenced(fence("answer", "Two doors.")); // "Two doors."
 * ```
 */
export function unfenced(text: string): string {
	return text.replace(OPENED, "").replace(CLOSED, "");
}

const OPENED = /<(?:activity|answer|cause|context|log|partial|problems|question|reply)-[0-9a-f]{12}>\n?/g;
const CLOSED = /\n?<\/(?:activity|answer|cause|context|log|partial|problems|question|reply)-[0-9a-f]{12}>/g;

/** Also with invisible characters in between. Other tags stay, because answers often contain code. */
const LOOKALIKE =
	/<(?=[\s/\p{Default_Ignorable_Code_Point}]*(?:task-|subagent-|structured-output|(?:activity|answer|cause|context|log|partial|problems|question|reply)-))/giu;

/** 48 bits: too many to guess with the number of tries that fit into an answer. */
function newMark(): string {
	return crypto.randomUUID().slice(-12);
}
