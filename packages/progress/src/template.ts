/**
 * Fills templates such as `Reading {path|file_path}`. Values are sanitized and shortened here, and never read as templates
 * themselves. A template is filled completely or not at all: nothing is made up.
 */
import { clipStart } from "./clip.ts";
import { sanitize, sanitizeClipped } from "./sanitize.ts";

/** Literal text and placeholders, in order. */
export type Template = readonly (string | Placeholder)[];

/** Finds the value of a name. Anything but a string or a number counts as missing. */
export type Lookup = (name: string) => unknown;

interface Placeholder {
	/** Tried in order. */
	names: readonly Detail[];
}

interface Detail {
	name: string;
	maxLength: number;
	keepsEnd: boolean;
	/** What stands there instead of a value: `"an agent"` in `{preset|"an agent"}`. */
	literal?: string;
}

/** Parses a template once, so that filling it is only concatenation. Braces without a name stay as they are. */
export function compileTemplate(source: string): Template {
	const parts: (string | Placeholder)[] = [];
	// Odd indexes are the captured names.
	for (const [index, piece] of sanitize(source).split(PLACEHOLDER).entries()) {
		if (index % 2 === 1) parts.push({ names: piece.split("|").map(detail) });
		else if (piece !== "") parts.push(piece);
	}
	return parts;
}

/** The filled text, or `undefined` when a placeholder has no value. */
export function fillTemplate(template: Template, lookup: Lookup): string | undefined {
	let text = "";
	for (const part of template) {
		if (typeof part === "string") {
			text += part;
			continue;
		}
		const value = firstValue(part.names, lookup);
		if (value === "") return undefined;
		text += value;
	}
	return text;
}

const PLACEHOLDER = /\{([\w.-]+(?:\|(?:[\w.-]+|"[^"{}|]+"))*)\}/;

/** The start of a command or tool name matters most; for a path it is the end. */
function detail(name: string): Detail {
	return {
		name,
		maxLength: name === "command" || name === "tool" ? 80 : 200,
		keepsEnd: /path|file|dir|cwd/i.test(name),
		...(name.startsWith('"') && { literal: name.slice(1, -1) }),
	};
}

/** Where a command runs is worth less room than the command: `cd src && make` is `make`. */
function withoutCd(command: string): string {
	return /^\s*cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+)\s*(?:&&|;)\s*(?=\S)([\s\S]*)$/.exec(command)?.[1] ?? command;
}

function firstValue(names: readonly Detail[], lookup: Lookup): string {
	for (const { name, maxLength, keepsEnd, literal } of names) {
		const value = literal ?? lookup(name);
		if (typeof value === "number" && Number.isFinite(value)) return String(value);
		if (typeof value !== "string") continue;
		const said = name === "command" ? withoutCd(value) : value;
		const text = keepsEnd ? clipStart(sanitize(said), maxLength) : sanitizeClipped(said, maxLength);
		if (text !== "") return text;
	}
	return "";
}
