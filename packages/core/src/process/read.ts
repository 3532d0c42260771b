/**
 * Reads a run's files as what they are: written by another process, perhaps cut off in the middle, perhaps by somebody
 * else altogether. What comes out of here has the shape it promises.
 */
import { isAbsolute, join } from "node:path";
import type { Static } from "typebox";
import { Check } from "typebox/value";
import { messageOf } from "../best-effort.ts";
import { runIdOf } from "../runner.ts";
import { type EventLine, type Meta, type OwnerFile, type ResultFile, RUN_FILES, type WrapperFile } from "./layout.ts";
import { readPlain } from "./plain-file.ts";
import { eventSchemas, metaSchema, ownerSchema, resultSchema, wrapperSchema } from "./schema.ts";

/** More than any real one holds; what is larger is not read into memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Deeper than what any tool is called with. Parsing what is much deeper takes seconds, and later ends the stack. */
const MAX_DEPTH = 500;

/** What a run is, or in words why its directory does not say. */
export async function readMeta(dir: string): Promise<Meta | string> {
	const path = join(dir, RUN_FILES.meta);
	try {
		const text = await readWhole(path);
		if (text === undefined) return `${path} does not exist`;
		return parseMeta(text) ?? `${path} is not the whole description of a run`;
	} catch (error) {
		return `${path} cannot be read: ${messageOf(error)}`;
	}
}

/** How a run ended; undefined as long as no whole result is there. */
export async function readResult(dir: string): Promise<ResultFile | undefined> {
	const text = await readWhole(join(dir, RUN_FILES.result));
	return text === undefined ? undefined : parseResult(text);
}

/** Which process runs pi for a run; undefined as long as none does. */
export async function readWrapper(dir: string): Promise<WrapperFile | undefined> {
	const text = await readWhole(join(dir, RUN_FILES.wrapper));
	return text === undefined ? undefined : checked(wrapperSchema(), text);
}

function parseMeta(text: string): Meta | undefined {
	const meta = checked(metaSchema(), text);
	if (!meta || meta.runId !== runIdOf(meta)) return undefined;
	const places = [meta.cwd, meta.spec.cwd, meta.spec.runsDir, meta.systemPromptPath];
	return places.every((place) => place === undefined || isAbsolute(place)) ? meta : undefined;
}

export function parseResult(text: string): ResultFile | undefined {
	const result = checked(resultSchema(), text);
	return result && result.runId === runIdOf(result) ? result : undefined;
}

export function parseOwner(text: string): OwnerFile | undefined {
	return checked(ownerSchema(), text);
}

/** A line of the log, unless it is broken or news from a newer version. */
export function parseEvent(line: string): EventLine | undefined {
	const value = parseJson(line);
	const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
	const schemas = eventSchemas();
	if (typeof type !== "string" || !Object.hasOwn(schemas, type)) return undefined;
	const schema = schemas[type as keyof typeof schemas];
	return Check(schema, value) ? value : undefined;
}

function checked<
	Schema extends ReturnType<typeof metaSchema | typeof resultSchema | typeof wrapperSchema | typeof ownerSchema>,
>(schema: Schema, text: string): Static<Schema> | undefined {
	const value = parseJson(text);
	return Check(schema, value) ? value : undefined;
}

/** Undefined for what is no JSON, or nested too deeply. */
export function parseJson(text: string): unknown {
	if (isTooDeep(text)) return undefined;
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined; // cut off, or not ours
		throw error;
	}
}

function isTooDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '"') at = endOfString(text, at);
		else if (character === "{" || character === "[") depth++;
		else if (character === "}" || character === "]") depth--;
		if (depth > MAX_DEPTH) return true;
	}
	return false;
}

/** Where the quote is that ends the string which begins here; the end of the text, if none does. */
function endOfString(text: string, start: number): number {
	for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
		let escapes = 0;
		while (text[at - 1 - escapes] === "\\") escapes++;
		if (escapes % 2 === 0) return at;
	}
	return text.length;
}

async function readWhole(path: string): Promise<string | undefined> {
	return (await readPlain(path, MAX_FILE_BYTES))?.toString("utf8");
}
