/**
 * The kinds of value that a field can have: for each, how it is read and how it is described to a person.
 * Pure; knows nothing about particular fields.
 */
import { isMapping, keyword, splitItems, splitTools } from "../model/items.ts";
import { nameFault, usableName } from "../model/names.ts";

/** A kind of value. Data, so that the parser, the docs and the tests read the same thing. */
export type Kind =
	| { readonly type: "name" }
	| { readonly type: "prose" }
	| { readonly type: "text"; readonly max: number }
	| { readonly type: "model" }
	| { readonly type: "models" }
	| { readonly type: "tools" }
	| { readonly type: "denied tools" }
	| { readonly type: "preset names" }
	| { readonly type: "switch or list" }
	| { readonly type: "list" }
	| { readonly type: "boolean" }
	| { readonly type: "count"; readonly min: number; readonly max: number }
	| { readonly type: "money" }
	| { readonly type: "duration" }
	| {
			readonly type: "choice";
			readonly values: readonly string[];
			readonly synonyms: ReadonlyMap<string, string | undefined>;
	  }
	| { readonly type: "color" }
	| { readonly type: "schema" };

/** The result of reading: a value (`undefined` means "as if absent"), or a fault. */
export type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault?: string };

const invalid: Reading = { ok: false };
const maxDurationMs = 24 * 24 * 3_600_000; // the limit of a timer is a little more than 24 days
const unitMs = new Map([
	["ms", 1],
	["s", 1000],
	["m", 60_000],
	["h", 3_600_000],
	["d", 86_400_000],
]);
const colors = ["red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "magenta", "white", "gray"];
const toolName =
	/^(?:[A-Za-z_][\w.-]{0,127}|ext:[^\s,()]{1,200}|mcp__[\w-]{1,100}?__\*|mcp:[\w-]{1,100}(?:\/(?:\*|[^\s,()*]{1,128}))?)$/;
const itemName = /^[^\s,\p{Cc}][^,\p{Cc}]{0,300}$/u;
const modelName = /^[\w.@~:/+-][\w.@~:/+() -]{0,199}$/;

/** pi's own tools. */
export const builtinTools: readonly string[] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** Kinds that count as absent when empty: a template that was not filled in. An empty list is a list. */
const mayBeEmpty: ReadonlySet<Kind["type"]> = new Set(["boolean", "choice", "count", "duration", "money", "model"]);

/** Reads one value. `bareUnitMs` is the unit of a duration without one. */
export function readValue(kind: Kind, raw: unknown, bareUnitMs = 1000): Reading {
	if ((raw === null || raw === "") && mayBeEmpty.has(kind.type)) return { ok: true, value: undefined };
	switch (kind.type) {
		case "name":
		case "prose":
			return readText(raw, Number.POSITIVE_INFINITY); // their rules and messages are in `parse/reader.ts`
		case "text":
			return readText(raw, kind.max);
		case "model":
			return readModel(raw);
		case "models":
			return readList(raw, (item) => modelName.test(item));
		case "tools":
			return readTools(raw);
		case "denied tools":
			return readDenied(raw);
		case "preset names":
			return readPresetNames(raw);
		case "switch or list":
			return readSwitch(raw);
		case "list":
			return readList(raw, (item) => itemName.test(item));
		case "boolean":
			return readBoolean(raw);
		case "count":
			return readCount(raw, kind);
		case "money":
			return readMoney(raw);
		case "duration":
			return readDuration(raw, bareUnitMs);
		case "choice":
			return readChoice(raw, kind);
		case "color":
			return readColor(raw);
		case "schema":
			return readSchema(raw);
		default:
			return assertNever(kind);
	}
}

/** What a value of this kind looks like, as the end of "must be …". */
export function expected(kind: Kind): string {
	switch (kind.type) {
		case "name":
			return 'letters, digits, ".", "_" and "-", at most 64 characters';
		case "prose":
			return "one line of text, cut to 1,000 characters";
		case "text":
			return `text of at most ${kind.max} characters`;
		case "model":
			return "one model, such as `provider/model-id`, or `inherit`";
		case "models":
			return "model names, as a list or separated by commas";
		case "tools":
			return "tool names, as a list or separated by commas or blanks, or `*` or `none`";
		case "denied tools":
			return "tool names, as a list or separated by commas or blanks";
		case "preset names":
			return "preset names, as a list or separated by commas, or `*` or `none`";
		case "switch or list":
			return "`true`, `false`, or names, as a list or separated by commas";
		case "list":
			return "names, as a list or separated by commas";
		case "boolean":
			return "`true` or `false`";
		case "count":
			return `a whole number from ${kind.min} to ${kind.max}`;
		case "money":
			return "an amount in US dollars, such as `1.50`";
		case "duration":
			return "a number of seconds, or a duration such as `90s`, `5m` or `1h30m`, at most 24 days";
		case "choice":
			return kind.values
				.map((value) => `\`${value}\``)
				.join(", ")
				.replace(/, ([^,]*)$/, " or $1");
		case "color":
			return `${colors.join(", ")}, or a quoted \`"#rrggbb"\``;
		case "schema":
			return "a JSON Schema, as a mapping or as JSON text";
		default:
			return assertNever(kind);
	}
}

function readText(raw: unknown, max: number): Reading {
	if (typeof raw !== "string" && typeof raw !== "number" && typeof raw !== "boolean") return invalid;
	const text = String(raw).trim();
	return text === "" || text.length > max ? invalid : { ok: true, value: text };
}

function readModel(raw: unknown): Reading {
	if (typeof raw !== "string" || !modelName.test(raw.trim())) return invalid;
	const model = raw.trim();
	return { ok: true, value: model.toLowerCase() === "inherit" ? "inherit" : model };
}

/** A list in which `none` means no items. Kinds in which `all` has a meaning have their own reader. */
function readList(raw: unknown, fits: (item: string) => boolean): Reading {
	if (keyword(raw) === "none") return { ok: true, value: [] };
	return readItems(raw, (item) => keyword(item) === undefined && fits(item));
}

function readItems(raw: unknown, fits: (item: string) => boolean, split = splitItems): Reading {
	const items = split(raw);
	if (items === undefined) return invalid;
	const bad = items.find((item) => !fits(item));
	return bad === undefined ? { ok: true, value: [...new Set(items)] } : { ok: false, fault: bad };
}

function readTools(raw: unknown): Reading {
	const word = keyword(raw);
	if (word !== undefined) return { ok: true, value: word === "all" ? "*" : [] };
	const isEvery = (item: string) => keyword(item) === "all";
	const read = readItems(
		raw,
		(item) => isEvery(item) || (toolName.test(item) && keyword(item) === undefined),
		splitTools,
	);
	if (!read.ok || !Array.isArray(read.value) || !read.value.some(isEvery)) return read;
	// Next to other names, "all" cannot mean every tool of every extension, or the other names would mean nothing.
	const named = read.value.filter((item) => !isEvery(item));
	return { ok: true, value: [...new Set([...builtinTools, ...named])] };
}

function readDenied(raw: unknown): Reading {
	const word = keyword(raw);
	if (word !== undefined) return { ok: true, value: word === "all" ? ["*"] : [] };
	const fits = (item: string) => item === "*" || (toolName.test(item) && keyword(item) === undefined);
	return readItems(raw, fits, splitTools);
}

function readPresetNames(raw: unknown): Reading {
	if (typeof raw === "boolean") return { ok: true, value: raw ? "*" : [] };
	const word = keyword(raw);
	if (word !== undefined) return { ok: true, value: word === "all" ? "*" : [] };
	// A name that had to be adapted is known by both spellings.
	const adapted = (value: unknown) => splitItems(value)?.map((item) => usableName(item) ?? item);
	return readItems(raw, (item) => nameFault(item) === undefined, adapted);
}

function readSwitch(raw: unknown): Reading {
	const word = keyword(raw);
	if (word !== undefined) return { ok: true, value: word === "all" };
	const flag = readBoolean(raw);
	return flag.ok ? flag : readItems(raw, (item) => itemName.test(item) && keyword(item) === undefined);
}

function readBoolean(raw: unknown): Reading {
	if (typeof raw === "boolean") return { ok: true, value: raw };
	if (typeof raw !== "string") return invalid;
	const word = raw.trim().toLowerCase();
	if (word === "true" || word === "yes" || word === "on") return { ok: true, value: true };
	return word === "false" || word === "no" || word === "off" ? { ok: true, value: false } : invalid;
}

function readCount(raw: unknown, { min, max }: { readonly min: number; readonly max: number }): Reading {
	const match = typeof raw === "string" ? /^(\d{1,15}(?:\.\d{1,3})?)\s?([km]?)$/i.exec(raw.trim()) : undefined;
	const scale = match?.[2]?.toLowerCase() === "m" ? 1e6 : match?.[2] ? 1e3 : 1;
	const count = match ? Math.round(Number(match[1]) * scale * 1000) / 1000 : raw;
	return typeof count === "number" && Number.isInteger(count) && count >= min && count <= max
		? { ok: true, value: count }
		: invalid;
}

function readMoney(raw: unknown): Reading {
	const amount =
		typeof raw === "string" && /^\$?\s?\d{1,9}(\.\d{1,9})?$/.test(raw.trim()) ? Number(raw.replace("$", "")) : raw;
	return typeof amount === "number" && amount >= 0 && amount <= 1e9 ? { ok: true, value: amount } : invalid;
}

function readDuration(raw: unknown, bareUnitMs: number): Reading {
	let ms = typeof raw === "number" ? raw * bareUnitMs : 0;
	if (typeof raw === "string") {
		const text = raw.trim().toLowerCase();
		if (!/^(?:\d{1,12}(?:\.\d{1,6})?\s?(?:ms|s|m|h|d)\s?){1,5}$/.test(text)) {
			return /^\d{1,12}(?:\.\d{1,6})?$/.test(text) ? readDuration(Number(text), bareUnitMs) : invalid;
		}
		for (const [, amount, unit] of text.matchAll(/([\d.]+)\s?(ms|s|m|h|d)/g))
			ms += Number(amount) * (unitMs.get(unit ?? "") ?? 0);
	} else if (typeof raw !== "number") return invalid;
	return ms >= 0 && ms <= maxDurationMs ? { ok: true, value: Math.round(ms) } : invalid;
}

function readChoice(raw: unknown, kind: Extract<Kind, { type: "choice" }>): Reading {
	const word = String(typeof raw === "object" ? "" : raw)
		.trim()
		.toLowerCase();
	if (kind.values.includes(word)) return { ok: true, value: word };
	return kind.synonyms.has(word) ? { ok: true, value: kind.synonyms.get(word) } : invalid;
}

function readColor(raw: unknown): Reading {
	if (raw === null) return { ok: false, fault: "empty, perhaps because an unquoted # starts a comment" };
	if (typeof raw !== "string") return invalid;
	const color = raw.trim().toLowerCase();
	return colors.includes(color) || /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/.test(color) ? { ok: true, value: color } : invalid;
}

function readSchema(raw: unknown): Reading {
	if (raw === "") return { ok: true, value: undefined }; // the documented way to say "free text"
	if (typeof raw !== "string") return isMapping(raw) ? { ok: true, value: raw } : invalid;
	try {
		const value: unknown = JSON.parse(raw);
		return isMapping(value) ? { ok: true, value } : invalid;
	} catch (error) {
		return { ok: false, fault: error instanceof Error ? error.message : "not JSON" };
	}
}

function assertNever(kind: never): never {
	throw new Error(`unknown kind of value: ${JSON.stringify(kind)}`);
}
