/**
 * Reads simple frontmatter without a YAML parser: one `key: value` per line, plain or quoted values. Most presets are that
 * simple. With YAML alone the first look at 100 presets takes three times the processor time, and loading the parser twice
 * as much again: that would delay the start of pi.
 * The result must equal that of YAML, or be `undefined`; a property test checks this.
 */

/** One top-level `key: value` of frontmatter. */
export interface Entry {
	readonly key: string;
	readonly value: unknown;
	/** Counted from 1, in the file. */
	readonly line: number;
	readonly column: number;
	/** The key as written in the file, if it was translated. */
	readonly written?: string;
}

const pair = /^(?!(?:null|true|false):)([A-Za-z_][\w-]*):(?: +(.*))?$/i;
// No character that YAML could read as an indicator, a comment, an escape, a tab or a line end.
const plainValue =
	/^[A-Za-z0-9$(/.^~_+<=;\u00c0-\u024f\u3040-\u9fff\uac00-\ud7a3-](?:[ -~\u00a1-\u024f\u2010-\u2026\u3001-\u9fff\uac00-\ud7a3])*$/;
const unsafe = /:(?: |$)| #|^- |^-$|^---|^\.\.\./;
const number = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^0o[0-7]+$|^0x[0-9a-fA-F]+$/;
const special = /^(?:null|Null|NULL|~|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;
const quoted =
	/^"[^"\\\u0000-\u001f\u007f-\u00a0\u2028\u2029\ud800-\udfff\ufeff]*"$|^'[^'\u0000-\u001f\u007f-\u00a0\u2028\u2029\ud800-\udfff\ufeff]*'$/;

// In a flow list, commas and brackets are indicators as well, so only words are read.
const flowWord = /^[A-Za-z_][\w./-]*(?::[\w./-]+)*$/;
const listItem = /^( *)- +(\S.*)$/;

/** The entries, or `undefined` when only YAML can tell. `firstLine` is the number of the first line in the file. */
export function readSimpleFrontmatter(text: string, firstLine: number): Entry[] | undefined {
	const entries: Entry[] = [];
	const seen = new Set<string>();
	const lines = text.split("\n");
	for (let index = 0; index < lines.length; index++) {
		const raw = lines[index] ?? "";
		if (raw === "" || raw.startsWith("#")) continue;
		const match = pair.exec(raw);
		const key = match?.[1];
		if (match === null || key === undefined || seen.has(key)) return undefined;
		const text = trimSpaces(match[2] ?? "");
		const items = text === "" ? readItems(lines, index + 1) : [];
		const value = items.length > 0 ? items : text.startsWith("[") ? readFlow(text) : readScalar(text);
		if (value === undefined) return undefined;
		seen.add(key);
		entries.push({ key, value, line: index + firstLine, column: 1 });
		index += items.length;
	}
	return entries;
}

/** The `- item` lines from here on, while they are simple and equally indented. */
function readItems(lines: readonly string[], start: number): unknown[] {
	const items: unknown[] = [];
	const indent = listItem.exec(lines[start] ?? "")?.[1];
	for (let index = start; index < lines.length; index++) {
		const match = listItem.exec(lines[index] ?? "");
		const value = match === null ? undefined : readScalar(trimSpaces(match[2] ?? ""));
		// Any other line ends the list; if it is not a key either, the caller returns `undefined`.
		if (value === undefined || indent !== match?.[1]) break;
		items.push(value);
	}
	return items;
}

function readFlow(text: string): unknown[] | undefined {
	if (!text.endsWith("]")) return undefined;
	const inner = trimSpaces(text.slice(1, -1));
	if (inner === "") return [];
	const items = inner
		.split(",")
		.map(trimSpaces)
		.map((item) => (flowWord.test(item) || quoted.test(item) ? readScalar(item) : undefined));
	return items.includes(undefined) ? undefined : items;
}

/** Spaces only: YAML reads other blanks as text. A loop, because a regular expression for this can be slow. */
function trimSpaces(text: string): string {
	let start = 0;
	let end = text.length;
	while (start < end && text[start] === " ") start++;
	while (end > start && text[end - 1] === " ") end--;
	return text.slice(start, end);
}

/** A value that needs no YAML parser, or `undefined`. */
function readScalar(text: string): string | number | boolean | null | undefined {
	if (text === "") return null;
	if (quoted.test(text)) return text.slice(1, -1);
	if (!plainValue.test(text) || unsafe.test(text)) return undefined;
	if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
	if (number.test(text) || special.test(text)) return undefined;
	if (/^(?:true|True|TRUE)$/.test(text)) return true;
	return /^(?:false|False|FALSE)$/.test(text) ? false : text;
}
