/**
 * Fills templates such as `Reading {path|file_path}`. Values are cleaned and shortened here, and are never
 * read as templates themselves. A template is filled whole or not at all: no detail is ever invented.
 */
import { clipStart } from "./clip.ts";
import { sanitize, sanitizeClipped } from "./sanitize.ts";

/** Literal text and the names that stand for values, in order. */
export type Template = readonly (string | Placeholder)[];

/** Looks a value up by the name in the template. What is neither text nor a number counts as missing. */
export type Lookup = (name: string) => unknown;

interface Placeholder {
	/** Tried in order. */
	names: readonly Detail[];
}

interface Detail {
	name: string;
	maxLength: number;
	keepsEnd: boolean;
}

/** Reads a template once, so that filling it is only joining. Braces that name nothing stay as they are. */
export function compileTemplate(source: string): Template {
	const parts: (string | Placeholder)[] = [];
	// Odd places hold the captured names.
	for (const [place, piece] of sanitize(source).split(PLACEHOLDER).entries()) {
		if (place % 2 === 1) parts.push({ names: piece.split("|").map(detail) });
		else if (piece !== "") parts.push(piece);
	}
	return parts;
}

/** The finished text, or `undefined` when a placeholder has no value. */
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

const PLACEHOLDER = /\{([\w-]+(?:\|[\w-]+)*)\}/;

/** Commands and tool names are long and say most at their start; a path says most at its end. */
function detail(name: string): Detail {
	return {
		name,
		maxLength: name === "command" || name === "tool" ? 80 : 200,
		keepsEnd: /path|file|dir|cwd/i.test(name),
	};
}

function firstValue(names: readonly Detail[], lookup: Lookup): string {
	for (const { name, maxLength, keepsEnd } of names) {
		const value = lookup(name);
		if (typeof value === "number" && Number.isFinite(value)) return String(value);
		if (typeof value !== "string") continue;
		const text = keepsEnd ? clipStart(sanitize(value), maxLength) : sanitizeClipped(value, maxLength);
		if (text !== "") return text;
	}
	return "";
}
