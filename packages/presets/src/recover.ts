/**
 * Repairs the two mistakes that people make most in frontmatter: `tools: *`, which YAML takes for an alias,
 * and `description: Use when: …`, which it takes for a mapping. Works on text, line by line; never throws.
 */

/** Repaired text, and what was changed: line offsets from the start of the text. */
export interface Repair {
	readonly text: string;
	readonly lines: readonly { readonly line: number; readonly key: string }[];
}

const pair = /^([A-Za-z_][\w-]*):[ \t]+(\S.*)$/;
// Values that already say what they are: quoted to the end, flow collections, block scalars, anchors and tags.
const deliberate = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[|>][-+0-9]*|[[{&!].*)[ \t]*(?:[ \t]#.*)?$/;

/** A lone star, or one that begins a list, is common and can mean nothing else: quotes it. */
export function quoteStars(text: string): string {
	if (!text.includes("*")) return text;
	return text.replace(/^([A-Za-z_][\w-]*:[ \t]+)\*(.*)$/gm, (line: string, start: string, rest: string) => {
		const tail = rest.trim();
		return tail === "" || (tail.startsWith(",") && !/[#"\\]/.test(tail)) ? `${start}"*${tail}"` : line;
	});
}

/** Quotes the prose values that YAML stumbles over, or gives nothing when there are none. */
export function requote(text: string, isFreeText: (key: string) => boolean): Repair | undefined {
	const source = text.split("\n");
	const out: string[] = [];
	const lines: { line: number; key: string }[] = [];
	for (let index = 0; index < source.length; index++) {
		const line = source[index] ?? "";
		const match = pair.exec(line);
		const [, key = "", value = ""] = match ?? [];
		if (match === null || !isFreeText(key) || deliberate.test(value) || !isTrouble(value)) {
			out.push(line);
			continue;
		}
		let prose = value.trim();
		let folded = 0; // continuation lines keep their count, so that later line numbers stay right
		while (/^[ \t]+\S/.test(source[index + 1] ?? "")) {
			const continued = source[++index]?.trim() ?? "";
			// An indented `tools: read` was meant as a field; as prose it would limit nothing.
			const field = /^([A-Za-z_][\w-]*):(?:[ \t]|$)/.exec(continued)?.[1];
			if (field !== undefined && !isFreeText(field)) return undefined;
			prose += ` ${continued}`;
			folded++;
		}
		lines.push({ line: index - folded, key });
		out.push(`${key}: ${JSON.stringify(prose)}`, ...Array.from({ length: folded }, () => ""));
	}
	return lines.length === 0 ? undefined : { text: out.join("\n"), lines };
}

function isTrouble(value: string): boolean {
	return /:(?:[ \t]|$)/.test(value) || /^["'@`%*,?\]}-]/.test(value);
}
