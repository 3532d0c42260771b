/**
 * Finds the names that a file was meant to have when its frontmatter cannot be read, so that they stay taken. Goes line
 * by line and guesses generously: a name held without need is reported, a name let go may hand tools to the wrong one.
 */
import { readFrontmatter } from "./frontmatter.ts";
import { nameFault } from "./names.ts";
import { findField } from "./spelling.ts";

const pair = /^([ \t]*)(?:"([^"\\]{1,40})"|'([^']{1,40})'|([A-Za-z_-]{1,40}))[ \t]*:(.*)$/;
const firstWord = /^[\s"'[{]*([\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*)/u;
// All three bound the work for files that are made to be slow.
const maxLines = 5000;
const maxNames = 5;
const maxValue = 300;

/** What frontmatter that YAML refuses claims: the written names; where they are unclear, the file name as well. */
export function claimsOfHead(head: string, stem: string): string[] {
	const { read, guessed } = namesIn(head);
	return usable(read.length > 0 ? read : [...guessed, stem]);
}

/** What a file without (closed) frontmatter claims: a name may be written at its beginning, but that is a guess. */
export function claimsOfText(text: string, stem: string): string[] {
	const beginning = text.replace(/^\s*(?:---[ \t]*\n)?/, "").split("\n\n", 1)[0] ?? "";
	return usable([...namesIn(beginning).read.slice(0, 1), stem]);
}

/** The usable ones, each once. */
export function usable(names: readonly string[]): string[] {
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
		// What is indented deeper belongs to the field above it.
		if (blanks.length > indent || findField(double ?? single ?? plain)?.key !== "name") continue;
		const name = readAlone(lines, index);
		const guess = firstWord.exec(value)?.[1];
		if (name !== undefined && nameFault(name) === undefined) read.push(name);
		else if (guess !== undefined) guessed.push(guess);
		if (++seen >= maxNames) break;
	}
	return { read, guessed };
}

/** The value of one field when the rest of the file is left out: quotes, comments and escapes are YAML's business. */
function readAlone(lines: readonly string[], start: number): string | undefined {
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
