/** Values as people write them: YAML lists or words separated by commas, mappings, and the words for "all" and "none". */

import { cut, oneLine } from "./text.ts";

const maxItems = 500;

/** Splits `a, b(c, d), e` at the commas outside parentheses; passes a list of scalars through. */
export function splitItems(raw: unknown): string[] | undefined {
	if (raw === null || raw === "") return [];
	const items = typeof raw === "string" ? splitAtCommas(raw) : raw;
	if (!Array.isArray(items) || items.length > maxItems) return undefined;
	const texts: string[] = [];
	for (const item of items) {
		if (typeof item !== "string" && typeof item !== "number") return undefined;
		const text = String(item).trim();
		if (text !== "") texts.push(text);
	}
	return texts;
}

/** The same for tools, which blanks separate as well: `Bash(git diff:*) Read` are two. */
export function splitTools(raw: unknown): string[] | undefined {
	return splitItems(raw)?.flatMap((item) => splitOutside(item, /\s/).filter((part) => part !== ""));
}

function splitAtCommas(text: string): string[] {
	return splitOutside(text, /,/);
}

/** Splits at separators outside parentheses. */
function splitOutside(text: string, separator: RegExp): string[] {
	if (!text.includes("(")) return text.split(separator);
	const items: string[] = [];
	let start = 0;
	let depth = 0;
	for (let index = 0; index < text.length; index++) {
		const character = text[index] ?? "";
		if (character === "(") depth++;
		else if (character === ")") depth--;
		else if (depth <= 0 && separator.test(character)) {
			items.push(text.slice(start, index));
			start = index + 1;
		}
	}
	return [...items, text.slice(start)];
}

/** `*` and `all`, or `none`, also as the only item of a list. */
export function keyword(raw: unknown): "all" | "none" | undefined {
	const only: unknown = Array.isArray(raw) && raw.length === 1 ? raw[0] : raw;
	if (typeof only !== "string") return undefined;
	const word = only.trim().toLowerCase();
	if (word === "*" || word === "all") return "all";
	return word === "none" ? "none" : undefined;
}

/** Whether a value is a YAML mapping or a JSON object. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The pairs of a mapping, with names that can be shown. */
export function mappingEntries(value: unknown): [string, unknown][] | undefined {
	if (!isMapping(value)) return undefined;
	return Object.entries(value).map(([name, each]) => [cut(oneLine(name), 60), each]);
}
