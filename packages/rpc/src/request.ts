/**
 * Reads requests that anybody may have put on the bus. They come as live objects, not as text: with getters that throw,
 * proxies, borrowed prototypes. Each known field is read once, own fields only, and everything else is left alone.
 */
import { copyJson } from "./json.ts";
import type { Method, Requests, SpawnOptions } from "./protocol.ts";

/** A spawn as a handler gets it: checked, without what was unset, and with one spelling for each thing. */
export interface CheckedSpawn {
	type: string;
	prompt: string;
	options: CheckedOptions;
}

export type CheckedOptions = {
	[Key in Exclude<keyof SpawnOptions, "model" | "structuredOutput" | "bypassQueue">]?: NonNullable<SpawnOptions[Key]>;
} & {
	/** `provider/id`. */
	model?: string;
};

/** What a handler of each method is called with. */
export type Checked = Omit<Requests, "spawn"> & { spawn: CheckedSpawn };

const MOST_ID = 256;
const MOST_WORDS = 10_000;
/** What no model could read is a mistake. */
const MOST_PROMPT = 1_000_000;

/** Where the answer goes; `undefined` when that cannot be known, and then nothing may be done or answered. */
export function requestIdOf(payload: unknown): string | undefined {
	try {
		const id = fieldsOf(payload, "request")("requestId");
		if (typeof id === "number" && Number.isFinite(id)) return String(id);
		return typeof id === "string" && id !== "" && id.length <= MOST_ID ? id : undefined;
	} catch {
		return undefined; // it is no object, or throws when one looks at it
	}
}

/**
 * A request as a handler gets it. Throws, in words for the caller, when something is missing or not what it should be.
 *
 * @example
 * ```ts
 * readRequest("spawn", { type: "Explore", prompt: "look", options: { cwd: null, depth: 3 } });
 * // { type: "Explore", prompt: "look", options: {} }
 * ```
 */
export function readRequest<M extends Method>(method: M, payload: unknown): Checked[M] {
	return READERS[method](fieldsOf(payload, "request"));
}

type Fields = (key: string) => unknown;

const agentId = (get: Fields) => ({ agentId: text(get, "agentId", MOST_ID) });

const READERS: { [M in Method]: (get: Fields) => Checked[M] } = {
	ping: () => ({}),
	list: () => ({}),
	stop: agentId,
	consume: agentId,
	status: agentId,
	result: agentId,
	wait: agentId,
	steer: (get) => ({ ...agentId(get), message: text(get, "message", MOST_PROMPT) }),
	spawn(get) {
		const type = text(get, "type", MOST_ID);
		const prompt = text(get, "prompt", MOST_PROMPT);
		const options = get("options") ?? {};
		return { type, prompt, options: readOptions(fieldsOf(options, "options")) };
	},
};

function readOptions(get: Fields): CheckedOptions {
	const option = <T>(key: string, read: (get: Fields, key: string) => T | undefined): Record<string, T> => {
		const value = read(get, key);
		return value === undefined ? {} : { [key]: value };
	};
	const outputSchema = optional(get, "outputSchema") ?? optional(get, "structuredOutput");
	return {
		...option("description", (from, key) => someText(from, key, MOST_WORDS)),
		...option("name", (from, key) => someText(from, key, MOST_WORDS)),
		...option("model", modelName),
		...option("maxTurns", wholeNumber),
		...option("thinkingLevel", (from, key) => someText(from, key, MOST_ID)),
		...option("isolated", yesOrNo),
		...option("isolation", isolation),
		...option("inheritContext", yesOrNo),
		...option("isBackground", yesOrNo),
		...option("cwd", (from, key) => someText(from, key, MOST_WORDS)),
		...option("signal", abortSignal),
		...(outputSchema === undefined ? {} : { outputSchema: schema(outputSchema) }),
	};
}

/** Own fields only: what comes by a prototype was not written by whoever asks. */
function fieldsOf(value: unknown, what: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
	return (key) => (Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined);
}

/** `null` is how callers that go through JSON leave something out. */
function optional(get: Fields, key: string): unknown {
	return get(key) ?? undefined;
}

function text(get: Fields, key: string, most: number): string {
	const value = someText(get, key, most);
	if (value === undefined || value.trim() === "") throw new Error(`${key} must be a text that is not blank`);
	return value;
}

function someText(get: Fields, key: string, most: number): string | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value !== "string") throw new Error(`${key} must be a text`);
	if (value.length > most) throw new Error(`${key} has ${value.length} characters, and at most ${most} can be used`);
	return value;
}

function yesOrNo(get: Fields, key: string): boolean | undefined {
	const value = optional(get, key);
	if (value !== undefined && typeof value !== "boolean") throw new Error(`${key} must be true or false`);
	return value;
}

function wholeNumber(get: Fields, key: string): number | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`${key} must be a whole number`);
	return value as number;
}

function modelName(get: Fields, key: string): string | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value === "string") return someText(() => value, key, MOST_ID);
	const { provider, id } = value as { provider?: unknown; id?: unknown }; // pi's model may be an instance of a class
	if (typeof provider !== "string" || typeof id !== "string")
		throw new Error(`${key} must be "provider/id", or an object with provider and id`);
	return someText(() => `${provider}/${id}`, key, MOST_ID);
}

function isolation(get: Fields, key: string): "worktree" | "off" | undefined {
	const value = optional(get, key);
	if (value === undefined || value === "worktree" || value === "off") return value;
	throw new Error(`${key} must be "worktree" or "off"`);
}

/** One that went through JSON is not a signal any more, and is left out. */
function abortSignal(get: Fields, key: string): AbortSignal | undefined {
	const value = optional(get, key);
	return value instanceof AbortSignal ? value : undefined;
}

function schema(value: unknown): Readonly<Record<string, unknown>> {
	fieldsOf(value, "outputSchema");
	return copyJson(value, "outputSchema") as Record<string, unknown>;
}
