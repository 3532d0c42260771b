/**
 * Splits a file into frontmatter and body, and reads the frontmatter safely: bounded size, few aliases, no custom tags,
 * never throws. It knows YAML but no fields; it passes duplicate keys on, so that the caller can name the field.
 */
import { isMap, isScalar, Lexer, LineCounter, type ParsedNode, parseDocument, visit, type YAMLError } from "yaml";
import { cut, oneLine } from "../model/text.ts";
import { quoteStars, requote } from "./recover.ts";
import { type Entry, readSimpleFrontmatter } from "./simple-frontmatter.ts";

/** A file in two parts. `firstLine` is the line number where the frontmatter starts in the file. */
export type Split =
	| { readonly type: "both"; readonly head: string; readonly body: string; readonly firstLine: number }
	| { readonly type: "body only"; readonly body: string }
	| { readonly type: "unclosed" };

/** A problem at a position in the file. */
export interface Fault {
	readonly line: number;
	readonly column: number;
	readonly severity: "error" | "warning";
	readonly message: string;
	readonly field?: string;
}

/** `entries` is absent when the frontmatter cannot be used at all. */
export interface Frontmatter {
	readonly entries?: readonly Entry[];
	readonly faults: readonly Fault[];
}

const indentedMessage =
	"this line is indented, but the value above it is complete: remove the indentation, or put the whole value in quotes";
const maxHead = 16 * 1024;
const maxAliases = 10;
// These bound the time of the YAML parser, which is slow on text that consists only of mistakes.
const maxTokens = 1000;
const maxLines = 400;
const maxBrackets = 64;

/**
 * Splits at the two `---` lines. Expects LF line ends and no byte order mark. Blank lines may come first: otherwise such a
 * file would become a prompt without the limits it sets.
 */
export function splitFrontmatter(text: string): Split {
	const opening = /^(?:[ \t]*\n)*---[ \t]*(?:\n|$)/.exec(text);
	if (opening === null) return { type: "body only", body: text };
	const start = opening[0].length;
	const firstLine = opening[0].trimEnd().split("\n").length + 1;
	for (let at = start - 1; at !== -1; at = text.indexOf("\n---", at + 1)) {
		if (!text.startsWith("\n---", at)) continue; // possible only in the first iteration
		const lineEnd = text.indexOf("\n", at + 1);
		const line = text.slice(at + 1, lineEnd === -1 ? undefined : lineEnd);
		if (line.trimEnd() !== "---") continue;
		const head = text.slice(start, Math.max(start, at));
		return { type: "both", head, body: lineEnd === -1 ? "" : text.slice(lineEnd + 1), firstLine };
	}
	return { type: "unclosed" };
}

/**
 * Reads the part between the `---` lines. `isFreeText` tells which keys contain prose: only there an unquoted colon is
 * repaired, because a repair must never change the meaning of a tool list.
 */
export function readFrontmatter(head: string, firstLine: number, isFreeText: (key: string) => boolean): Frontmatter {
	if (head.length > maxHead) {
		const message = `the frontmatter has ${head.length} characters: use at most ${maxHead} and put the rest into the body`;
		return { faults: [{ line: 1, column: 1, severity: "error", message }] };
	}
	const text = quoteStars(head);
	const simple = readSimpleFrontmatter(text, firstLine);
	if (simple !== undefined) return { entries: simple, faults: [] };
	const message = tooMuch(text);
	if (message !== undefined) return { faults: [{ line: 1, column: 1, severity: "error", message }] };
	const first = readYaml(text, firstLine);
	if (first.entries !== undefined) return first;
	const repair = requote(text, isFreeText);
	if (repair === undefined) return first;
	const second = readYaml(repair.text, firstLine);
	if (second.entries === undefined) return first;
	const warnings = repair.lines.map(({ line, key }): Fault => {
		const message = `the value of "${key}" has a character that YAML reserves and was read as text: put it in quotes`;
		return { line: line + firstLine, column: 1, severity: "warning", field: key, message };
	});
	return { entries: second.entries, faults: warnings };
}

/** Counts lines, tokens and nesting without parsing. */
function tooMuch(text: string): string | undefined {
	const isLong = text.length > maxLines;
	const large = `the frontmatter has more than ${maxLines} lines or ${maxTokens} words and symbols: make it smaller`;
	if (isLong && text.split("\n", maxLines + 1).length > maxLines) return large;
	if (!isLong && text.split(/[[{]/, maxBrackets + 2).length <= maxBrackets + 1) return undefined;
	let tokens = 0;
	let open = 0;
	for (const token of new Lexer().lex(text)) {
		if (++tokens > maxTokens) return large;
		if (token === "[" || token === "{") open++;
		else if (token === "]" || token === "}") open--;
		if (open > maxBrackets) return `the frontmatter has more than ${maxBrackets} nested brackets: make it simpler`;
	}
	return undefined;
}

function readYaml(text: string, firstLine: number): Frontmatter {
	const counter = new LineCounter();
	const positionOf = (offset: number) => {
		const { line, col } = counter.linePos(offset);
		return { line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
	};
	const fail = (offset: number, message: string): Frontmatter => ({
		faults: [{ ...positionOf(offset), severity: "error", message }],
	});
	try {
		const document = parseDocument(text, {
			lineCounter: counter,
			logLevel: "error", // "silent" would hide a second document
			prettyErrors: false,
			schema: "core",
			uniqueKeys: false, // its check is quadratic; `findHarmful` has its own
			version: "1.2",
		});
		const error = document.errors[0] ?? document.warnings[0]; // a warning is an unknown tag
		const indented = indentedLine(document.errors, text);
		if (indented !== undefined) return fail(indented, indentedMessage);
		if (error !== undefined) return fail(error.pos[0], yamlMessage(error));
		const root: ParsedNode | null = document.contents;
		if (root === null || (isScalar(root) && root.value === null)) return { entries: [], faults: [] };
		if (!isMap(root)) return fail(root.range[0], "the frontmatter is not a mapping: write `key: value` lines");
		const harmful = findHarmful(root);
		if (harmful !== undefined) return fail(harmful.offset, harmful.message);
		const entries = root.items.map(({ key, value }): Entry => {
			const js: unknown = value === null ? null : value.toJS(document, { maxAliasCount: maxAliases });
			return { key: String(isScalar(key) ? key.value : ""), value: js, ...positionOf(key.range[0]) };
		});
		return { entries, faults: [] };
	} catch (error) {
		// The stack overflowed, or there are more aliases than allowed.
		const reason =
			error instanceof RangeError ? "it is nested too deeply" : error instanceof Error ? error.message : "";
		return fail(0, `the frontmatter cannot be read: ${cut(oneLine(reason), 200)}`);
	}
}

/** Finds what is valid YAML but harmful: many aliases, keys that are not words or that reach a prototype. */
function findHarmful(root: ParsedNode): { readonly offset: number; readonly message: string } | undefined {
	let aliases = 0;
	let found: { offset: number; message: string } | undefined;
	const stop = (offset: number, message: string): symbol => {
		found = { offset, message };
		return visit.BREAK;
	};
	visit(root, {
		Alias(_key, node) {
			if (++aliases <= maxAliases) return undefined;
			return stop(node.range?.[0] ?? 0, `the frontmatter has more than ${maxAliases} aliases: write the values out`);
		},
		Map(_key, node) {
			const offset = node.range?.[0] ?? 0;
			const seen = new Set<unknown>();
			for (const { key } of node.items) {
				if (!isScalar(key)) return stop(offset, "a key is not a single word: write `key: value` lines");
				const at = key.range?.[0] ?? offset;
				if (key.value === "__proto__") return stop(at, "a key is called __proto__: rename it");
				if (node !== root && seen.has(key.value))
					return stop(at, `the key "${cut(oneLine(String(key.value)), 60)}" appears twice: remove one`);
				seen.add(key.value);
			}
			return undefined;
		},
	});
	return found;
}

/** The offset of a `key: value` line that is indented under a complete value: YAML reads both as one key of two lines. */
function indentedLine([first, second]: readonly YAMLError[], text: string): number | undefined {
	if (first?.code !== "BLOCK_AS_IMPLICIT_KEY" || second?.code !== "MULTILINE_IMPLICIT_KEY") return undefined;
	if (first.pos[0] !== second.pos[0]) return undefined;
	const start = text.lastIndexOf("\n", second.pos[1] - 1) + 1;
	return start + text.slice(start).search(/\S/);
}

function yamlMessage(error: YAMLError): string {
	const text = cut(oneLine(error.message), 200);
	switch (error.code) {
		case "TAB_AS_INDENT":
			return "a tab is used as indentation: use spaces";
		case "BAD_ALIAS":
			return 'an unquoted "*" starts an alias: put the value in quotes';
		case "TAG_RESOLVE_FAILED":
			return `${text}: remove the tag`;
		case "BLOCK_AS_IMPLICIT_KEY":
			return "a value contains an unquoted colon: put the value in quotes";
		case "MULTIPLE_DOCS":
			return "the frontmatter contains more than one YAML document: keep one";
		default:
			return `the frontmatter is not valid YAML (${text}): fix this line, or put the value in quotes`;
	}
}
