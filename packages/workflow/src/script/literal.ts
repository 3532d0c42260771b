/**
 * Reads a pure literal of JavaScript: objects, arrays, strings, numbers, booleans and null, with comments and trailing
 * commas. A script's `meta` must be one, so that a workflow can be listed without running any of it. Pure.
 */
import { sanitize } from "@pi-subagents/progress";

export interface Literal {
	value: unknown;
	/** Where the text behind it begins. */
	end: number;
}

const MAX_MESSAGE = 600;

/** What is wrong in a script's text, and on which line. */
export class ScriptError extends Error {
	override readonly name = "ScriptError";
	readonly line: number | undefined;

	/** The message may repeat words of the script. */
	constructor(message: string, line?: number) {
		const shown = sanitize(message).slice(0, MAX_MESSAGE);
		super(line === undefined ? shown : `line ${line}: ${shown}`);
		this.line = line;
	}
}

const MAX_DEPTH = 20;

/** Throws a `ScriptError` at the first thing that would have to be run to be known. */
export function readLiteral(text: string, start: number): Literal {
	const reader = new LiteralReader(text, start);
	const value = reader.value(0);
	return { value, end: reader.at };
}

/** Behind white space and comments. */
export function skipBlank(text: string, start: number): number {
	BLANK.lastIndex = start;
	return BLANK.test(text) ? BLANK.lastIndex : start;
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NUMBER = /-?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
const WORD = /[A-Za-z_$][\w$]*/y;

const WORDS = new Map<string, unknown>([
	["true", true],
	["false", false],
	["null", null],
	["undefined", undefined],
]);

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", "0": "\0" };

class LiteralReader {
	at: number;
	readonly #text: string;

	constructor(text: string, start: number) {
		this.#text = text;
		this.at = start;
	}

	value(depth: number): unknown {
		if (depth > MAX_DEPTH) this.#fail("is nested too deeply");
		this.#skip();
		const char = this.#text[this.at] ?? "";
		if (char === "{") return this.#object(depth);
		if (char === "[") return this.#array(depth);
		if (char === '"' || char === "'" || char === "`") return this.#joined();
		const number = this.#take(NUMBER);
		if (number !== undefined) return Number(number.replaceAll("_", ""));
		const word = this.#take(WORD);
		if (word !== undefined && WORDS.has(word)) return WORDS.get(word);
		return this.#fail(word === undefined ? `has ${JSON.stringify(char)}` : `uses \`${word}\``);
	}

	#object(depth: number): Record<string, unknown> {
		const entries: [string, unknown][] = [];
		this.at++;
		for (;;) {
			this.#skip();
			if (this.#took("}")) return Object.fromEntries(entries);
			const char = this.#text[this.at];
			const key = char === '"' || char === "'" ? this.#string() : (this.#take(WORD) ?? this.#take(NUMBER));
			if (key === undefined) this.#fail("has a key that is not a plain name");
			this.#skip();
			if (!this.#took(":")) this.#fail(`has no value for \`${key}\``);
			entries.push([key, this.value(depth + 1)]);
			this.#skip();
			if (!this.#took(",") && this.#text[this.at] !== "}") this.#fail("lacks a comma");
		}
	}

	#array(depth: number): unknown[] {
		const values: unknown[] = [];
		this.at++;
		for (;;) {
			this.#skip();
			if (this.#took("]")) return values;
			values.push(this.value(depth + 1));
			this.#skip();
			if (!this.#took(",") && this.#text[this.at] !== "]") this.#fail("lacks a comma");
		}
	}

	/** Long descriptions are often written as strings joined with `+`. */
	#joined(): string {
		let text = this.#string();
		for (;;) {
			const next = skipBlank(this.#text, this.at);
			if (this.#text[next] !== "+") return text;
			this.at = skipBlank(this.#text, next + 1);
			if (!/["'`]/.test(this.#text[this.at] ?? "")) this.#fail("computes a value");
			text += this.#string();
		}
	}

	#string(): string {
		const quote = this.#text[this.at];
		let text = "";
		for (let at = this.at + 1; at < this.#text.length; at++) {
			const char = this.#text[at] as string;
			if (char === quote) {
				this.at = at + 1;
				return text;
			}
			if (quote === "`" && char === "$" && this.#text[at + 1] === "{") this.#fail("computes a value");
			if (char === "\n" && quote !== "`") break;
			if (char !== "\\") {
				text += char;
				continue;
			}
			const { said, length } = this.#escape(at + 1);
			text += said;
			at += length;
		}
		return this.#fail("has a string that does not end");
	}

	#escape(at: number): { said: string; length: number } {
		const rest = this.#text.slice(at, at + 10);
		const code = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\})/.exec(rest);
		if (code) {
			const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? "", 16);
			if (point > 0x10ffff) this.#fail("has a character that does not exist");
			return { said: String.fromCodePoint(point), length: code[0].length };
		}
		const char = rest[0] ?? "";
		return { said: char === "\n" ? "" : (ESCAPES[char] ?? char), length: 1 };
	}

	#skip(): void {
		this.at = skipBlank(this.#text, this.at);
	}

	#took(char: string): boolean {
		if (this.#text[this.at] !== char) return false;
		this.at++;
		return true;
	}

	#take(pattern: RegExp): string | undefined {
		pattern.lastIndex = this.at;
		const found = pattern.exec(this.#text)?.[0];
		if (found !== undefined) this.at += found.length;
		return found;
	}

	#fail(what: string): never {
		const message = `\`meta\` must be a pure literal, and this one ${what}. Write plain values: { name: "review", description: "…" }`;
		throw new ScriptError(message, lineOf(this.#text, this.at));
	}
}

/** Counts from 1. */
export function lineOf(text: string, at: number): number {
	return text.slice(0, at).split("\n").length;
}
