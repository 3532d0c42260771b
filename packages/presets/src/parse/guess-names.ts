/**
 * Guesses the names that a file was meant to have when its frontmatter cannot be read, so that they stay reserved. It goes
 * line by line and guesses generously: a name reserved needlessly is reported, but a missed name could let a preset with
 * more tools be used instead.
 */

import { findField } from "../fields/spelling.ts";
import { readFrontmatter } from "../frontmatter/frontmatter.ts";
import { nameFault, usableName } from "../model/names.ts";

const pair = /^([ \t]*)(?:"([^"\\]{1,40})"|'([^']{1,40})'|([A-Za-z_-]{1,40}))[ \t]*:(.*)$/;
const firstWord = /^[\s"'[{]*([\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*)/u;
// These bound the work for malicious files.
const maxLines = 5000;
const maxNames = 5;
const maxValue = 300;

/** The names in frontmatter that YAML cannot read. Where they are unclear, the file name is one as well. */
export function guessNamesInHead(head: string, stem: string): string[] {
	const { read, guessed } = namesIn(head);
	return validNames(read.length > 0 ? read : [...guessed, stem]);
}

/** The names of a file without (closed) frontmatter: one may be written at its start; the file name counts as well. */
export function guessNamesInText(text: string, stem: string): string[] {
	const beginning = text.replace(/^\s*(?:---[ \t]*\n)?/, "").split("\n\n", 1)[0] ?? "";
	return validNames([...namesIn(beginning).read.slice(0, 1), stem]);
}

/** Whether a text starts with fields, but without the `---` line of frontmatter. */
export function startsWithFields(text: string): boolean {
	const beginning = text.trimStart().split("\n\n", 1)[0] ?? "";
	return beginning.split("\n", maxLines).some((line) => {
		const [, , double, single, plain = ""] = pair.exec(line) ?? [];
		return findField(double ?? single ?? plain) !== undefined;
	});
}

/** The valid names, each once. */
export function validNames(names: readonly string[]): string[] {
	return [...new Set(names)].filter((name) => nameFault(name) === undefined);
}

function namesIn(head: string): { readonly read: readonly string[]; readonly guessed: readonly string[] } {
	const lines = head.split("\n", maxLines);
	const indent = indentOf(lines.find((line) => /^[ \t]*[^\s#]/.test(line)) ?? "");
	const read: string[] = [];
	const guessed: string[] = [];
	let seen = 0;
	for (const [index, line] of lines.entries()) {
		const [, blanks = "", double, single, plain = "", value = ""] = pair.exec(line) ?? [];
		// A line that is indented deeper belongs to the field above it.
		if (blanks.length > indent || findField(double ?? single ?? plain)?.key !== "name") continue;
		const name = readField(lines, index);
		const guess = firstWord.exec(value)?.[1];
		const valid = name === undefined ? undefined : usableName(name);
		if (valid !== undefined) read.push(valid);
		else if (guess !== undefined) guessed.push(guess);
		if (++seen >= maxNames) break;
	}
	return { read, guessed };
}

/** The value of one field, read without the rest of the file. YAML handles quotes, comments and escapes. */
function readField(lines: readonly string[], start: number): string | undefined {
	const indent = indentOf(lines[start] ?? "");
	let end = start + 1;
	while (end < start + 3 && indentOf(lines[end] ?? "") > indent) end++;
	const text = lines.slice(start, end).join("\n");
	const value = text.length > maxValue ? undefined : readFrontmatter(text, 1, () => false).entries?.[0]?.value;
	return value === undefined || typeof value === "object" ? undefined : String(value).trim();
}

function indentOf(line: string): number {
	return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}
