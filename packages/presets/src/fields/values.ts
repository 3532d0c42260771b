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
	| { readonly type: "percent" }
	| { readonly type: "duration" }
	| {
			readonly type: "choice";
			readonly values: readonly string[];
			readonly synonyms: ReadonlyMap<string, string | undefined>;
	  }
	| { readonly type: "color" }
	| { readonly type: "schema" }
	| { readonly type: "verify" }
	| { readonly type: "worktree" };

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

/** How a kind of value is read, and what it looks like, as the end of "must be …". */
interface Rules<OneKind extends Kind> {
	readonly read: (raw: unknown, kind: OneKind, bareUnitMs: number) => Reading;
	readonly expected: string | ((kind: OneKind) => string);
	/** An empty value counts as absent: a template that was not filled in. An empty list is a list. */
	readonly mayBeEmpty?: true;
}

const rules: { readonly [Type in Kind["type"]]: Rules<Extract<Kind, { readonly type: Type }>> } = {
	// What else holds for names and prose is in `parse/reader.ts`, with its messages.
	name: { read: (raw) => readText(raw), expected: 'letters, digits, ".", "_" and "-", at most 64 characters' },
	prose: { read: (raw) => readText(raw), expected: "one line of text, cut to 1,000 characters" },
	text: { read: (raw, { max }) => readText(raw, max), expected: ({ max }) => `text of at most ${max} characters` },
	model: { read: readModel, expected: "one model, such as `provider/model-id`, or `inherit`", mayBeEmpty: true },
	models: {
		read: (raw) => readList(raw, (item) => modelName.test(item)),
		expected: "model names, as a list or separated by commas",
	},
	tools: {
		read: readTools,
		expected: "tool names, as a list or separated by commas or blanks, or `*` or `none`",
	},
	"denied tools": { read: readDenied, expected: "tool names, as a list or separated by commas or blanks" },
	"preset names": {
		read: readPresetNames,
		expected: "preset names, as a list or separated by commas, or `*` or `none`",
	},
	"switch or list": {
		read: readSwitch,
		expected: "`true`, `false`, or names, as a list or separated by commas",
	},
	list: {
		read: (raw) => readList(raw, (item) => itemName.test(item)),
		expected: "names, as a list or separated by commas",
	},
	boolean: { read: readBoolean, expected: "`true` or `false`", mayBeEmpty: true },
	count: { read: readCount, expected: ({ min, max }) => `a whole number from ${min} to ${max}`, mayBeEmpty: true },
	money: { read: readMoney, expected: "an amount in US dollars, such as `1.50`", mayBeEmpty: true },
	percent: {
		read: (raw) => readCount(typeof raw === "string" ? raw.replace(/\s?%\s*$/, "") : raw, { min: 0, max: 50 }),
		expected: "a percentage from 0 to 50, such as `10%`",
		mayBeEmpty: true,
	},
	duration: {
		read: (raw, _kind, bareUnitMs) => readDuration(raw, bareUnitMs),
		expected: "a number of seconds, or a duration such as `90s`, `5m` or `1h30m`, at most 24 days",
		mayBeEmpty: true,
	},
	choice: { read: readChoice, expected: ({ values }) => alternatives(values), mayBeEmpty: true },
	color: { read: readColor, expected: `${colors.join(", ")}, or a quoted \`"#rrggbb"\`` },
	schema: { read: readSchema, expected: "a JSON Schema, as a mapping or as JSON text" },
	verify: {
		read: readVerify,
		expected:
			"a command for the shell, a list of a program and its arguments, or a mapping of `command`, `timeout`, `output: json` and `schema`",
		mayBeEmpty: true,
	},
	worktree: {
		read: readWorktree,
		expected: "a mapping of `dir` (a path), `link` and `include` (lists), `setup` (a command) and `setup_timeout`",
		mayBeEmpty: true,
	},
};

/** The rules for this kind; the compiler does not see that they fit it. */
function rulesFor(kind: Kind): Rules<Kind> {
	return rules[kind.type] as Rules<Kind>;
}

/** Reads one value. `bareUnitMs` is the unit of a duration without one. */
export function readValue(kind: Kind, raw: unknown, bareUnitMs = 1000): Reading {
	const { read, mayBeEmpty } = rulesFor(kind);
	return mayBeEmpty && (raw === null || raw === "") ? { ok: true, value: undefined } : read(raw, kind, bareUnitMs);
}

/** What a value of this kind looks like, as the end of "must be …". */
export function expected(kind: Kind): string {
	const { expected } = rulesFor(kind);
	return typeof expected === "string" ? expected : expected(kind);
}

function alternatives(values: readonly string[]): string {
	return values
		.map((value) => `\`${value}\``)
		.join(", ")
		.replace(/, ([^,]*)$/, " or $1");
}

function readText(raw: unknown, max = Number.POSITIVE_INFINITY): Reading {
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

/** Reads where a worktree is and what makes it ready. A key that is not known may be meant as a limit. */
function readWorktree(raw: unknown): Reading {
	if (!isMapping(raw)) return invalid;
	const read: Record<string, unknown> = {};
	for (const [key, value] of Object.entries(raw)) {
		const field = worktreeKeys.get(key.replaceAll("_", "").toLowerCase());
		if (field === undefined) return { ok: false, fault: `unknown key ${key}` };
		const reading = field.read(value);
		if (!reading.ok) return reading.fault === undefined ? { ok: false, fault: `its ${key}` } : reading;
		read[field.key] = reading.value;
	}
	return { ok: true, value: read };
}

const worktreeKeys = new Map([
	["dir", { key: "dir", read: readPath }],
	["link", { key: "link", read: (raw: unknown) => readList(raw, (item) => itemName.test(item)) }],
	["include", { key: "include", read: (raw: unknown) => readList(raw, (item) => itemName.test(item)) }],
	["setup", { key: "setup", read: readCommand }],
	["setuptimeout", { key: "setupTimeoutMs", read: (raw: unknown) => readDuration(raw, 1000) }],
]);

/** Whether a worktree may be there is checked when one is made. */
function readPath(raw: unknown): Reading {
	const isPath = typeof raw === "string" && raw.trim() !== "" && raw.length <= maxPath && !/\p{Cc}/u.test(raw);
	return isPath ? { ok: true, value: raw.trim() } : invalid;
}

const maxPath = 1_000;
const maxCommand = 10_000;
const verifyKeys = new Set(["command", "timeout", "output", "schema"]);

/**
 * Reads a `verify` of any origin: a preset, a call, a script. A key that is not known may be meant as a limit, so nothing is
 * verified then.
 */
function readVerify(raw: unknown): Reading {
	if (!isMapping(raw)) {
		const command = readCommand(raw);
		return command.ok ? { ok: true, value: { command: command.value } } : command;
	}
	const unknown = Object.keys(raw).find((key) => !verifyKeys.has(key));
	if (unknown !== undefined) return { ok: false, fault: `unknown key ${unknown}` };
	const command = readCommand(raw.command);
	const timeout = raw.timeout === undefined ? undefined : readDuration(raw.timeout, 1000);
	const output = raw.output === undefined ? undefined : readChoice(raw.output, jsonOnly);
	const schema = raw.schema === undefined ? undefined : readSchema(raw.schema);
	for (const each of [command, timeout, output, schema]) if (each?.ok === false) return each;
	if (schema !== undefined && output === undefined) return { ok: false, fault: "a schema without `output: json`" };
	const value = { command, timeoutMs: timeout, output, schema };
	return {
		ok: true,
		value: Object.fromEntries(
			Object.entries(value).flatMap(([key, each]) => (each?.ok && each.value !== undefined ? [[key, each.value]] : [])),
		),
	};
}

const jsonOnly = { type: "choice", values: ["json"], synonyms: new Map<string, undefined>() } as const;

function readCommand(raw: unknown): Reading {
	if (typeof raw === "string") return raw.trim() === "" || raw.length > maxCommand ? invalid : { ok: true, value: raw };
	const isList = Array.isArray(raw) && raw.length > 0 && raw.every((part) => typeof part === "string");
	if (!isList || raw[0] === "" || raw.join(" ").length > maxCommand) return invalid;
	return raw.some((part) => part.includes("\0")) ? invalid : { ok: true, value: raw };
}
