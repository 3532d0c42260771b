/**
 * Reads untrusted requests from the bus. They are live objects, which may have getters that throw, proxies or manipulated
 * prototypes. Each known field is read once, own fields only; everything else is ignored.
 */
import { copyJson } from "./json.ts";
import type { Method, Requests, SpawnOptions } from "./protocol.ts";

/** A validated spawn request: without unset fields, and with one spelling per field. */
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

/** The validated request of each method. */
export type Checked = Omit<Requests, "spawn"> & { spawn: CheckedSpawn };

const MAX_ID = 256;
const MAX_TEXT = 10_000;
/** More than any model could read. */
const MAX_PROMPT = 1_000_000;

/** The id for the reply; `undefined` when there is none, and then the request is ignored. */
export function requestIdOf(payload: unknown): string | undefined {
	try {
		const id = fieldsOf(payload, "request")("requestId");
		if (typeof id === "number" && Number.isFinite(id)) return String(id);
		return typeof id === "string" && id !== "" && id.length <= MAX_ID ? id : undefined;
	} catch {
		return undefined; // not an object, or a getter threw
	}
}

/**
 * Validates a request. Throws an error for the caller when a field is missing or invalid.
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

const agentId = (get: Fields) => ({ agentId: text(get, "agentId", MAX_ID) });

const READERS: { [M in Method]: (get: Fields) => Checked[M] } = {
	ping: () => ({}),
	list: () => ({}),
	stop: agentId,
	consume: agentId,
	status: agentId,
	result: agentId,
	wait: agentId,
	steer: (get) => ({ ...agentId(get), message: text(get, "message", MAX_PROMPT) }),
	spawn(get) {
		const type = text(get, "type", MAX_ID);
		const prompt = text(get, "prompt", MAX_PROMPT);
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
		...option("description", (from, key) => optionalText(from, key, MAX_TEXT)),
		...option("name", (from, key) => optionalText(from, key, MAX_TEXT)),
		...option("model", optionalModel),
		...option("maxTurns", optionalInteger),
		...option("thinkingLevel", (from, key) => optionalText(from, key, MAX_ID)),
		...option("isolated", optionalBoolean),
		...option("isolation", isolation),
		...option("inheritContext", optionalBoolean),
		...option("isBackground", optionalBoolean),
		...option("cwd", (from, key) => optionalText(from, key, MAX_TEXT)),
		...option("signal", optionalSignal),
		...(outputSchema === undefined ? {} : { outputSchema: schema(outputSchema) }),
	};
}

/** Own fields only: inherited ones were not set by the caller. */
function fieldsOf(value: unknown, what: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
	return (key) => (Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined);
}

/** Callers that use JSON write `null` for an absent field. */
function optional(get: Fields, key: string): unknown {
	return get(key) ?? undefined;
}

function text(get: Fields, key: string, most: number): string {
	const value = optionalText(get, key, most);
	if (value === undefined || value.trim() === "") throw new Error(`${key} must be a non-blank string`);
	return value;
}

function optionalText(get: Fields, key: string, most: number): string | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value !== "string") throw new Error(`${key} must be a string`);
	if (value.length > most) throw new Error(`${key} has ${value.length} characters; at most ${most} are allowed`);
	return value;
}

function optionalBoolean(get: Fields, key: string): boolean | undefined {
	const value = optional(get, key);
	if (value !== undefined && typeof value !== "boolean") throw new Error(`${key} must be true or false`);
	return value;
}

function optionalInteger(get: Fields, key: string): number | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`${key} must be a whole number`);
	return value as number;
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

function isolation(get: Fields, key: string): "worktree" | "off" | undefined {
	const value = optional(get, key);
	if (value === undefined || value === "worktree" || value === "off") return value;
	throw new Error(`${key} must be "worktree" or "off"`);
}

/** A signal that went through JSON is not one any more, and is ignored. */
function optionalSignal(get: Fields, key: string): AbortSignal | undefined {
	const value = optional(get, key);
	return value instanceof AbortSignal ? value : undefined;
}

function schema(value: unknown): Readonly<Record<string, unknown>> {
	fieldsOf(value, "outputSchema");
	return copyJson(value, "outputSchema") as Record<string, unknown>;
}
