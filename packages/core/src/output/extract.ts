/**
 * Finds the last JSON object in a model's text, among prose and fences. Linear time, even for text written to be
 * slow. Pure.
 */
import { quoted } from "../base/error.ts";
import { ObjectReader, OPEN_BRACE, type Span } from "./reader.ts";

export type Extracted = { data: Record<string, unknown>; json: string } | { problem: string };

/** What began like JSON and was not: up to where that was seen, or the end of the text. */
interface Broken extends Span {
	isCutOff: boolean;
}

/**
 * The last top-level JSON object. An object inside broken JSON is not taken, since the whole was the answer; nor is
 * one that precedes broken JSON on its own lines.
 *
 * @example
 * ````ts
 * extractJson('Here it is:\n```json\n{"files": 2}\n```'); // { data: { files: 2 }, json: '{"files": 2}' }
 * ````
 */
export function extractJson(text: string): Extracted {
	const { objects, broken } = objectsIn(text);
	const last = lastOf(objects);
	const ruin = broken.findLast((each) => !last || isAround(each, last) || comesAfter(each, last, text));
	if (ruin) return { problem: problemOf(text, ruin) };
	if (!last) return { problem: "There is no JSON object in the answer." };
	const json = text.slice(last.start, last.end);
	return { data: JSON.parse(json), json };
}

/**
 * All objects, including nested ones. A brace inside what one reader takes for a string may begin an object for
 * another, so there can be two readers; a third is impossible, since a string to one is not a string to the other.
 */
function objectsIn(text: string): { objects: Span[]; broken: Broken[] } {
	const objects: Span[] = [];
	const broken: Broken[] = [];
	const keep = (span: Span) => void objects.push(span);
	let readers: ObjectReader[] = [];
	for (let at = text.indexOf("{"); at >= 0 && at < text.length; at++) {
		const code = text.charCodeAt(at);
		const isTaken = code !== OPEN_BRACE || readers.some(({ expectsObject }) => expectsObject);
		for (const reader of readers) {
			const word = reader.read(code, at);
			if (word === "more") continue;
			readers = readers.filter((each) => each !== reader);
			if (word === "wrong" && reader.meansJson) broken.push({ start: reader.start, end: at, isCutOff: false });
		}
		if (!isTaken) readers.push(new ObjectReader(at, keep));
		if (readers.length > 0) continue;
		const next = text.indexOf("{", at + 1);
		if (next < 0) break;
		at = next - 1;
	}
	for (const { start, meansJson } of readers) if (meansJson) broken.push({ start, end: text.length, isCutOff: true });
	return { objects, broken };
}

/** From left to right, outer objects only: each ends before the next begins. */
function lastOf(objects: Span[]): Span | undefined {
	let last: Span | undefined;
	for (const span of objects.sort((one, other) => one.start - other.start)) {
		if (span.start >= (last?.end ?? 0)) last = span;
	}
	return last;
}

function isAround(outer: Span, inner: Span): boolean {
	return outer.start < inner.start && inner.end <= outer.end;
}

/** There may be as many broken objects as braces, so only a bounded indent is read for each. */
const MAX_INDENT = 100;

/** A shape mentioned in a sentence is no answer; a truncated object was going to be one. */
function comesAfter(broken: Broken, last: Span, text: string): boolean {
	if (broken.start < last.end) return false;
	const before = text.slice(Math.max(0, broken.start - MAX_INDENT), broken.start);
	return broken.isCutOff || before.slice(before.lastIndexOf("\n") + 1).trim() === "";
}

function problemOf(text: string, { end, isCutOff }: Broken): string {
	if (isCutOff) return "The JSON object is not complete: the answer ends before it does.";
	return `The JSON object is not valid JSON: it goes wrong at ${quoted(text.slice(end, end + 20))}, after ${quoted(text.slice(Math.max(0, end - 30), end))}.`;
}
