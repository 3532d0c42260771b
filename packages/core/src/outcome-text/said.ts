/**
 * Text for a model that remembers where in it an agent's own words are. The places are kept beside the text, so that
 * people are shown those words without anyone reading the text around them, and without a second copy of them. Pure.
 */
import { type FenceKind, fenceParts, isOneOf, sanitizeBlock } from "@pi-subagents/progress";
import { isObject } from "../base/values.ts";

/** `rest` says where to find what did not fit. */
const SAID_KINDS = ["answer", "data", "partial", "rest"] as const;

/** One stretch of text, from a first character to before a last one. */
export interface SaidPart {
	kind: (typeof SAID_KINDS)[number];
	from: number;
	to: number;
}

/** Where the words of one agent are in the text of a result. */
export interface Said {
	/** The length of that text. Another one is not the same text: someone changed it, and the places mean nothing. */
	of: number;
	parts: SaidPart[];
}

export interface MarkedText {
	readonly text: string;
	readonly said: readonly SaidPart[];
}

/** The agent's words between tags that they cannot close. */
export function markedFence(kind: FenceKind & SaidPart["kind"], text: string): MarkedText {
	const { open, text: words, close } = fenceParts(kind, text);
	return joined([open, marked(kind, words), close], "");
}

export function marked(kind: SaidPart["kind"], text: string): MarkedText {
	return { text, said: [{ kind, from: 0, to: text.length }] };
}

export function joined(parts: readonly (string | MarkedText)[], separator: string): MarkedText {
	let text = "";
	const said: SaidPart[] = [];
	for (const [index, part] of parts.entries()) {
		if (index > 0) text += separator;
		const { text: more, said: places } = typeof part === "string" ? { text: part, said: [] } : part;
		said.push(...places.map(({ kind, from, to }) => ({ kind, from: text.length + from, to: text.length + to })));
		text += more;
	}
	return { text, said };
}

/** Texts about several agents, one after the other: where each one's words are in all of it. */
export function together(intro: string, texts: readonly MarkedText[]): { text: string; said: (Said | undefined)[] } {
	let text = intro;
	const places = texts.map((each, index) => {
		const all = joined([index > 0 ? `${text}\n\n` : text, each], "");
		text = all.text;
		return all.said;
	});
	return { text, said: places.map((parts) => saidOf({ text, said: parts })) };
}

/** As it is kept in the details of a result with this text. */
export function saidOf({ text, said }: MarkedText): Said | undefined {
	return said.length > 0 ? { of: text.length, parts: [...said] } : undefined;
}

/** What an agent said, for people. `said` may come from a session file: undefined if it does not belong to this text. */
export function saidIn(text: string, said: unknown): string | undefined {
	if (!isObject(said) || said.of !== text.length || !Array.isArray(said.parts)) return undefined;
	let words = "";
	for (const part of said.parts) {
		if (!isPart(part, text.length)) return undefined;
		if (words !== "") words += part.kind === "rest" ? "\n" : "\n\n";
		words += sanitizeBlock(text.slice(part.from, part.to));
	}
	return words;
}

function isPart(part: unknown, length: number): part is SaidPart {
	if (!isObject(part) || !isOneOf(SAID_KINDS, part.kind)) return false;
	const { from, to } = part;
	const isPlace = Number.isInteger(from) && Number.isInteger(to);
	return isPlace && 0 <= Number(from) && Number(from) <= Number(to) && Number(to) <= length;
}
