/** Lists as people write them: YAML lists, or words separated by commas; and the words for "all" and "none". */

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

function splitAtCommas(text: string): string[] {
	if (!text.includes("(")) return text.split(",");
	const items: string[] = [];
	let start = 0;
	let depth = 0;
	for (let index = 0; index < text.length; index++) {
		const character = text[index];
		if (character === "(") depth++;
		else if (character === ")") depth--;
		else if (character === "," && depth <= 0) {
			items.push(text.slice(start, index));
			start = index + 1;
		}
	}
	return [...items, text.slice(start)];
}

/** `*` and `all`, or `none`; a list that holds nothing else counts as well. */
export function keyword(raw: unknown): "all" | "none" | undefined {
	const only: unknown = Array.isArray(raw) && raw.length === 1 ? raw[0] : raw;
	if (typeof only !== "string") return undefined;
	const word = only.trim().toLowerCase();
	if (word === "*" || word === "all") return "all";
	return word === "none" ? "none" : undefined;
}
