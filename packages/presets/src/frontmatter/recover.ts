/**
 * Repairs the most frequent mistakes in frontmatter: `tools: *`, which YAML reads as an alias, `description: Use when: …`,
 * which it reads as a mapping, and descriptions that continue in lines without indentation.
 * Works on text, line by line; never throws.
 */

/** The repaired text and the lines that changed, counted from 0. */
export interface Repair {
	readonly text: string;
	readonly lines: readonly { readonly line: number; readonly key: string }[];
}

const pair = /^([A-Za-z_][\w-]*):(?:[ \t]+(\S.*)|[ \t]*)$/;
// Values with explicit syntax: quoted, flow collections, block scalars, anchors and tags.
const explicit = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[|>][-+0-9]*|[[{&!].*)[ \t]*(?:[ \t]#.*)?$/;

/** Quotes a star that is alone or starts a list: this is common and can mean nothing else. */
export function quoteStars(text: string): string {
	if (!text.includes("*")) return text;
	return text.replace(/^([A-Za-z_][\w-]*:[ \t]+)\*(.*)$/gm, (line: string, start: string, rest: string) => {
		const tail = rest.trim();
		return tail === "" || (tail.startsWith(",") && !/[#"\\]/.test(tail)) ? `${start}"*${tail}"` : line;
	});
}

/** Quotes the prose values that YAML cannot read; `undefined` when there are none. */
export function requote(text: string, isFreeText: (key: string) => boolean): Repair | undefined {
	const source = text.split("\n");
	const out: string[] = [];
	const lines: { line: number; key: string }[] = [];
	for (let index = 0; index < source.length; index++) {
		const line = source[index] ?? "";
		const [, key, value = ""] = pair.exec(line) ?? [];
		const prose = key === undefined || !isFreeText(key) ? "none" : gather(source, index, value, isFreeText);
		if (prose === "unclear") return undefined;
		if (prose === "none") {
			out.push(line);
			continue;
		}
		lines.push({ line: index, key: key ?? "" });
		// Folded lines become empty lines, so that later line numbers stay correct.
		out.push(`${key}: ${JSON.stringify(prose.text)}`, ...Array.from({ length: prose.folded }, () => ""));
		index += prose.folded;
	}
	return lines.length === 0 ? undefined : { text: out.join("\n"), lines };
}

/**
 * The prose that starts in a line and continues in the next ones: indented lines, and others if they can be nothing else.
 * "none" is left to YAML; "unclear" contains a line that may be meant as a field.
 */
function gather(
	source: readonly string[],
	start: number,
	value: string,
	isFreeText: (key: string) => boolean,
): { readonly text: string; readonly folded: number } | "none" | "unclear" {
	const isBlock = /^[|>][-+0-9]*$/.test(value.trim());
	const strays = countStrayLines(source, start, isFreeText);
	if (strays === 0 && (explicit.test(value) || !needsQuotes(value))) return "none";
	if (strays > 0 && explicit.test(value) && !isBlock) return "none";
	let end = start + 1 + strays;
	while (/^[ \t]+\S/.test(source[end] ?? "")) end++;
	const more = source.slice(start + 1, end).map((line) => line.trim());
	// An indented `tools: read` was meant as a field; as prose it would limit nothing.
	if (more.some((line) => isField(line, isFreeText))) return "unclear";
	const text = [isBlock ? "" : value, ...more].join(" ").replace(/\s+/g, " ").trim();
	return { text: /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text, folded: end - start - 1 };
}

/**
 * How many lines belong to the prose above although they are not indented, because they are not fields: `<example>`, a new
 * paragraph. After the first of them, `user: …` is text as well, unless it is a known field.
 */
function countStrayLines(source: readonly string[], start: number, isFreeText: (key: string) => boolean): number {
	let strays = 0;
	let hasBegun = false;
	for (let index = start + 1; index < source.length; index++) {
		const line = source[index] ?? "";
		if (line.trim() === "") continue; // counts only when something follows
		const isIndented = /^[ \t]/.test(line);
		const isPair = fieldLine.test(line);
		if (!isIndented && (isPair ? !hasBegun || isField(line, isFreeText) : /^[#-]/.test(line) && !hasBegun)) break;
		if (!isIndented && !isPair) hasBegun = true;
		if (hasBegun) strays = index - start;
	}
	return strays;
}

const fieldLine = /^([A-Za-z_][\w-]*):(?:[ \t]|$)/;

/** Whether a line is a known field or looks like a limit. */
function isField(line: string, isFreeText: (key: string) => boolean): boolean {
	const key = fieldLine.exec(line)?.[1];
	return key !== undefined && (!isFreeText(key) || key.toLowerCase() === "description");
}

function needsQuotes(value: string): boolean {
	return /:(?:[ \t]|$)/.test(value) || /^["'@`%*,?\]}-]/.test(value);
}
