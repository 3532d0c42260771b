/** Reads the options of a spawn, by every name that callers use for them. */
import type { SpawnOptions } from "../protocol.ts";
import { type Fields, MAX_ID, MAX_TEXT, optional, optionalBoolean, optionalInteger, optionalText } from "./fields.ts";
import { copyJson } from "./json.ts";

type Renamed = "model" | "structuredOutput" | "schema" | "bypassQueue";

/** The options without unset ones, and with one spelling for each. */
export type CheckedOptions = {
	[Key in Exclude<keyof SpawnOptions, Renamed>]?: NonNullable<SpawnOptions[Key]>;
} & {
	/** `provider/id`. */
	model?: string;
};

export function readOptions(get: Fields): CheckedOptions {
	const option = <T>(key: string, read: (get: Fields, key: string) => T | undefined): Record<string, T> => {
		const value = read(get, key);
		return value === undefined ? {} : { [key]: value };
	};
	const shortText = (from: Fields, key: string) => optionalText(from, key, MAX_TEXT);
	return {
		...option("description", shortText),
		...option("name", shortText),
		...option("model", optionalModel),
		...option("maxTurns", optionalInteger),
		...option("thinkingLevel", (from, key) => optionalText(from, key, MAX_ID)),
		...option("isolated", optionalBoolean),
		...option("isolation", oneOf("worktree", "off")),
		...option("machine", (from, key) => optionalText(from, key, MAX_ID)),
		...option("retry", oneOf("lost", "off")),
		...option("inheritContext", optionalBoolean),
		...option("isBackground", optionalBoolean),
		...option("cwd", shortText),
		...option("signal", optionalSignal),
		...option("outputSchema", schema),
		...option("verify", verify),
		...option("fallbackSubagent", fallback),
		...option("onBeforeWorktreeCleanup", optionalFunction),
		...option("invocation", invocation),
	};
}

function optionalModel(get: Fields, key: string): string | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value === "string") return optionalText(() => value, key, MAX_ID);
	const { provider, id } = value as { provider?: unknown; id?: unknown }; // pi's model may be an instance of a class
	if (typeof provider !== "string" || typeof id !== "string")
		throw new Error(`${key} must be "provider/id", or an object with provider and id`);
	return optionalText(() => `${provider}/${id}`, key, MAX_ID);
}

function oneOf<const Word extends string>(...words: Word[]) {
	return (get: Fields, key: string): Word | undefined => {
		const value = optional(get, key);
		const word = words.find((each) => each === value);
		if (value !== undefined && word === undefined)
			throw new Error(`${key} must be ${words.map((each) => `"${each}"`).join(" or ")}`);
		return word;
	};
}

/** A signal that went through JSON is not one any more, and is ignored. */
export function optionalSignal(get: Fields, key: string): AbortSignal | undefined {
	const value = optional(get, key);
	return value instanceof AbortSignal ? value : undefined;
}

function optionalFunction(get: Fields, key: string): SpawnOptions["onBeforeWorktreeCleanup"] & object {
	const value = optional(get, key);
	if (value !== undefined && typeof value !== "function") throw new Error(`${key} must be a function`);
	return value as never;
}

function fallback(get: Fields, key: string): string | false | undefined {
	const value = optional(get, key);
	return value === false ? value : optionalText(() => value, key, MAX_ID);
}

/** Its shape is checked where presets are known. */
function verify(get: Fields, key: string): SpawnOptions["verify"] & {} {
	const value = optional(get, key);
	return (value === undefined || typeof value === "string" ? value : copyJson(value, key)) as never;
}

function invocation(get: Fields, key: string): Readonly<Record<string, unknown>> | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value !== "object" || Array.isArray(value)) throw new Error(`${key} must be an object`);
	return copyJson(value, key) as Record<string, unknown>;
}

/** The first of its names that the caller used. Errors say that name. */
function schema(get: Fields): Readonly<Record<string, unknown>> | undefined {
	const key = ["outputSchema", "structuredOutput", "schema"].find((name) => optional(get, name) !== undefined);
	if (key === undefined) return undefined;
	const source = uncompiled(optional(get, key), key);
	if (typeof source !== "object" || source === null || Array.isArray(source))
		throw new Error(`${key} must be an object`);
	return copyJson(source, key) as Record<string, unknown>;
}

/** A compiled schema holds the one it was made from: validators of Ajv as `schema`, those of TypeBox behind a method. */
function uncompiled(value: unknown, key: string): unknown {
	const { schema: source, type, Type, Schema } = Object(value) as Record<string, unknown>;
	if (typeof source === "object" && source !== null && type === undefined) return source;
	const read = [Type, Schema].find((member) => typeof member === "function") as (() => unknown) | undefined;
	if (read) return read.call(value);
	if (typeof value === "function")
		throw new Error(`${key} is a function that does not hold its JSON Schema as "schema": pass the JSON Schema itself`);
	return value;
}
