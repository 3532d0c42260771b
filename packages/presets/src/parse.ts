/**
 * Turns the text of one file into a preset. Pure and total: no file system, no clock, and every text has an answer.
 */
import { claimsOfHead, claimsOfText, usable } from "./claims.ts";
import { readFrontmatter, splitFrontmatter } from "./frontmatter.ts";
import { fileStem } from "./names.ts";
import type { ParseResult, Problem } from "./preset.ts";
import { type ParseContext, Reader } from "./reader.ts";
import { findField, foreignFields, squash } from "./spelling.ts";
import { withPlainLineEnds } from "./text.ts";

/** Files above this size are not read. */
export const maxFileBytes = 256 * 1024;

/**
 * Reads one preset file.
 *
 * @example
 * const source = { kind: "global", flavour: "subagents", inProject: false } as const;
 * const { preset, problems } = parsePreset("---\nname: scout\ndescription: Looks around\n---\nBe quick.", { path: "scout.md", source });
 */
export function parsePreset(text: string, context: ParseContext): ParseResult {
	const stem = fileStem(context.path);
	const plain = withPlainLineEnds(text.slice(0, maxFileBytes));
	const fail = (message: string): ParseResult => unusable(context.path, message, claimsOfText(plain, stem));
	if (text.length > maxFileBytes) return fail(`the file has more than ${maxFileBytes / 1024} KB: make it smaller`);
	if (text.includes("\u0000")) return fail("the file holds NUL characters: save it as UTF-8 text");
	const split = splitFrontmatter(plain);
	switch (split.type) {
		case "unclosed":
			return fail("the frontmatter is not closed: end it with a line `---`");
		case "body only":
			if (/^readme$/i.test(stem)) return { problems: [] }; // about presets, not one of them
			if (context.source.flavour === "subagents" || context.linked === true) {
				return fail("the file has no frontmatter: begin it with `---`, `name: …`, `description: …`, `---`");
			}
			return new Reader(context, stem).build([], split.body);
		case "both": {
			const { entries, faults } = readFrontmatter(split.head, split.firstLine, isFreeText);
			const reader = new Reader(context, stem);
			for (const fault of faults) reader.report(fault);
			if (entries !== undefined) return reader.build(entries, split.body);
			return reader.refuse(claimsOfHead(split.head, stem));
		}
		default:
			throw new Error(`unknown split: ${JSON.stringify(split satisfies never)}`);
	}
}

/** The answer for a file of which nothing can be used. It still claims its names, by default the file name. */
export function unusable(path: string, message: string, claims = usable([fileStem(path)])): ParseResult {
	const problem: Problem = { path, line: 1, column: 1, severity: "error", message };
	return claims[0] === undefined ? { problems: [problem] } : { problems: [{ ...problem, preset: claims[0] }], claims };
}

/** Prose fields, and fields nobody knows: quoting those can change no permission. */
function isFreeText(key: string): boolean {
	const field = findField(key);
	return field === undefined ? !foreignFields.has(squash(key)) : field.key === "description";
}
