/**
 * Turns the text of one file, or what another program gives as an object, into a preset. Pure: no file system and no clock. Never throws.
 */

import { limitFault } from "../fields/limits.ts";
import { findField } from "../fields/spelling.ts";
import { readFrontmatter, splitFrontmatter } from "../frontmatter/frontmatter.ts";
import { isForeignLimit } from "../imports/shared.ts";
import { fileStem, nameFault, normalName, usableName } from "../model/names.ts";
import type { ParseResult, PresetSource, Problem } from "../model/preset.ts";
import { normalizeLineEnds } from "../model/text.ts";
import { contextOf, type ParseOptions } from "./context.ts";
import { guessNamesInHead, guessNamesInText, startsWithFields, validNames } from "./guess-names.ts";
import { type ParseContext, Reader } from "./reader.ts";

/** Files above this size are not read. */
export const maxFileBytes = 256 * 1024;

/**
 * Reads one preset file.
 *
 * @example
 * const text = "---\nname: scout\ndescription: Looks around\n---\nBe quick.";
 * const { preset, problems } = parsePreset(text, { path: "scout.md", source: "global" });
 */
export function parsePreset(text: string, options: ParseOptions): ParseResult {
	if (typeof text !== "string") throw new TypeError(`text must be a string, not ${typeof text}.`);
	const context = contextOf(options);
	const stem = stemOf(context);
	const content = normalizeLineEnds(text.slice(0, maxFileBytes));
	const fail = (message: string): ParseResult => unusable(context.path, message, guessNamesInText(content, stem));
	if (text.length > maxFileBytes) return fail(`the file has more than ${maxFileBytes / 1024} KB: make it smaller`);
	if (text.includes("\u0000")) return fail("the file contains NUL characters: save it as UTF-8 text");
	const split = splitFrontmatter(content);
	switch (split.type) {
		case "unclosed":
			return fail("the frontmatter is not closed: end it with a line `---`");
		case "body only":
			if (isNote(stem, split.body, context)) return { problems: [] };
			if (context.source.flavour === "subagents" || context.linked === true || needsFrontmatter(context)) {
				return fail("the file has no frontmatter: start it with `---`, `name: …`, `description: …`, `---`");
			}
			return new Reader(context, stem).build([], split.body);
		case "both": {
			const { entries, faults } = readFrontmatter(split.head, split.firstLine, isFreeText);
			const reader = new Reader(context, stem);
			for (const fault of faults) reader.report(fault);
			if (entries !== undefined) return reader.build(entries, split.body);
			return reader.refuse(guessNamesInHead(split.head, stem));
		}
		default:
			throw new Error(`unknown split: ${JSON.stringify(split satisfies never)}`);
	}
}

const givenAtRunTime: PresetSource = { kind: "runtime", flavour: "agents", inProject: false };

/** Not fields of ours: the text is the body, and we show the name. */
const notFields: ReadonlySet<string> = new Set(["name", "systemPrompt", "displayName"]);

/**
 * Reads a preset given as an object. Unlike in a file, a field that cannot be used is always an error.
 *
 * @example
 * parseDefinition({ name: "scout", systemPrompt: "Be quick.", tools: ["read"] }).preset?.tools; // ["read"]
 */
export function parseDefinition(definition: Readonly<Record<string, unknown>>): ParseResult {
	const written = typeof definition.name === "string" ? normalName(definition.name.trim()) : "";
	const name = usableName(written);
	const path = `runtime:${name ?? "unnamed"}`;
	const fail = (message: string): ParseResult => ({ problems: [{ path, severity: "error", message }] });
	if (name === undefined) return fail(nameFault(written) ?? "the name is not allowed");
	const prompt = typeof definition.systemPrompt === "string" ? definition.systemPrompt : "";
	if (prompt.trim() === "") return fail("`systemPrompt` is missing: say what the agent is to do");
	const entries = Object.entries({ ...definition, name })
		.filter(([key, value]) => (key === "name" || !notFields.has(key)) && !isUnset(key, value))
		.map(([key, value]) => ({ key, value, line: 1, column: 1 }));
	const result = new Reader({ path, source: givenAtRunTime }, name).build(entries, prompt);
	return result.problems.some(({ severity }) => severity === "error") ? { problems: result.problems } : result;
}

/** `auto` leaves it to us. */
function isUnset(key: string, value: unknown): boolean {
	return value === null || value === undefined || (key === "promptMode" && value === "auto");
}

/** The result for a file that cannot be used at all. It still reserves its names, by default the file name. */
export function unusable(path: string, message: string, reservedNames = validNames([fileStem(path)])): ParseResult {
	const problem: Problem = { path, line: 1, column: 1, severity: "error", message };
	const [name] = reservedNames;
	return name === undefined ? { problems: [problem] } : { problems: [{ ...problem, preset: name }], reservedNames };
}

/**
 * Whether a file is documentation, not a preset. Where frontmatter is required, a text without it is such a note, unless it
 * starts with fields: then only the `---` lines are missing, and the fields may be limits.
 */
function isNote(stem: string, text: string, context: ParseContext): boolean {
	return /^readme$/i.test(stem) || (needsFrontmatter(context) && !startsWithFields(text));
}

/** Claude Code requires it, and sub-folders contain notes as well. */
function needsFrontmatter({ nested, source }: ParseContext): boolean {
	return nested === true || source.flavour === "claude";
}

function stemOf({ path, source }: ParseContext): string {
	const stem = fileStem(path);
	return source.flavour === "subagents" ? stem : (usableName(stem) ?? stem);
}

/** Prose fields and unknown fields: quoting their values cannot change a permission. */
function isFreeText(key: string): boolean {
	const field = findField(key);
	if (field !== undefined) return field.key === "description";
	return !isForeignLimit(key) && limitFault(key, { isImported: false }) === undefined;
}
