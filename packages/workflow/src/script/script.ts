/**
 * Checks a workflow script without running it: its first statement is `export const meta = { … }`, a pure literal, and
 * the rest compiles as the body of an async function, so it may `await` and `return`.
 */

import { createHash } from "node:crypto";
import { Script } from "node:vm";
import { checkArguments } from "@pi-subagents/progress";
import { lineOf, readLiteral, ScriptError, skipBlank } from "./literal.ts";
import { checkMeta, type Meta } from "./meta.ts";

export interface CheckedScript {
	meta: Meta;
	/** As it was given. */
	source: string;
	/** As it is run: an expression that gives the script's promise. Its lines are those of the source. */
	program: string;
	/** Of the source; a resumed workflow shows with it whether the script has changed. */
	hash: string;
}

const MAX_SCRIPT_BYTES = 512 * 1024;

const HEAD = '"use strict";(async () => {';
const START = "Begin the script with `export const meta = { name: …, description: … }`.";

/**
 * @example
 * ```ts
 * const { meta } = checkScript('export const meta = { name: "hi", description: "Says hi" }\nreturn agent("Say hi")');
 * ```
 */
export function checkScript(source: string): CheckedScript {
	checkArguments({ source: [source, "string"] });
	if (Buffer.byteLength(source) > MAX_SCRIPT_BYTES)
		throw new ScriptError(`The script is too long: at most ${MAX_SCRIPT_BYTES / 1024} KB.`);
	const start = startOf(source);
	STATEMENT.lastIndex = start;
	const found = STATEMENT.exec(source);
	if (!found) throw new ScriptError(START, lineOf(source, start));
	const { value, end } = readLiteral(source, STATEMENT.lastIndex);
	// A line break ends the statement; anything else on its line would continue the expression.
	BEHIND.lastIndex = end;
	if (!BEHIND.test(source))
		throw new ScriptError("`meta` must be a pure literal and end with its line.", lineOf(source, end));
	const meta = checkMeta(value);
	// With a semicolon: a next line that begins with a parenthesis would call the literal.
	const body = `${" ".repeat("export".length)}${source.slice(start + "export".length, end)};${source.slice(end)}`;
	const program = `${HEAD}${source.slice(0, start)}${body}\n})()`;
	compile(program);
	return { meta, source, program, hash: createHash("sha256").update(source).digest("hex").slice(0, 16) };
}

/** Blanks and comments up to the end of the line. Each comment can be matched in one way only: many would take exponential time. */
const BEHIND = /(?:[^\S\n]|\/\/[^\n]*|\/\*(?:[^*\n]|\*(?!\/))*\*\/)*(?=[;\n]|$)/y;
const STATEMENT = /export\s+const\s+meta\s*=\s*/y;

/** A byte order mark or `"use strict"` may come first. */
function startOf(source: string): number {
	const start = skipBlank(source, source.startsWith("\uFEFF") ? 1 : 0);
	const directive = /^(["'])use strict\1;?/.exec(source.slice(start, start + 20));
	return directive ? skipBlank(source, start + directive[0].length) : start;
}

/** How its lines are called in errors. */
const SCRIPT_NAME = "workflow.js";

function compile(program: string): Script {
	try {
		return new Script(program, { filename: SCRIPT_NAME, columnOffset: -HEAD.length });
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		const line = new RegExp(`^${SCRIPT_NAME}:(\\d+)`).exec(error.stack ?? "")?.[1];
		throw new ScriptError(`${hintFor(error.message)}`, line === undefined ? undefined : Number(line));
	}
}

function hintFor(message: string): string {
	if (/import/.test(message))
		return "A workflow cannot import anything: it has agent(), parallel(), pipeline() and map().";
	return /'export'/.test(message) ? "Only `meta` is exported, once, as the first statement." : message;
}
