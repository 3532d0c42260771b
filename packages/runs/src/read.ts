/** Reads and validates a run's files, which another process wrote, perhaps incompletely, perhaps an attacker. */

import { isAbsolute, join } from "node:path";
import { type RunSpec, runIdOf } from "@pi-subagents/core";
import { isObject, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { readPlain } from "@pi-subagents/core/internal/files";
import { type WrapperFile, wrapperSchema } from "@pi-subagents/core/internal/signals";
import { specSchema } from "@pi-subagents/core/schema";
import { checkArguments } from "@pi-subagents/progress";
import type { Static } from "typebox";
import { Check } from "typebox/value";
import { RUN_FILES } from "./format/layout.ts";
import type { ControlLine, EventLine, LiveLine } from "./format/lines.ts";
import { controlSchema, eventLineSchemas, liveSchema } from "./format/lines.ts";
import type { Meta } from "./format/meta.ts";
import { metaSchema } from "./format/meta.ts";
import type { OwnerFile } from "./format/owner.ts";
import { ownerSchema } from "./format/owner.ts";
import type { ResultFile } from "./format/result.ts";
import { resultSchema } from "./format/result.ts";
import { upgradedMeta } from "./format/upgrade.ts";

/** Larger than any real file. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A run's meta file, or a text that says why it cannot be used. */
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

/** The result of a run; undefined until it is complete. */
export async function readResult(dir: string): Promise<ResultFile | undefined> {
	const text = await readWhole(join(dir, RUN_FILES.result));
	return text === undefined ? undefined : parseResult(text);
}

/** What the run's directory says about its wrapper. A claim: see `livingWrapper`. */
export async function readWrapper(dir: string): Promise<WrapperFile | undefined> {
	const text = await readWhole(join(dir, RUN_FILES.wrapper));
	return text === undefined ? undefined : checked(wrapperSchema(), parseJson(text));
}

/**
 * The log of a run, in order; empty if there is none. Lines that are broken, unfinished or from a newer version are
 * skipped.
 *
 * @example
 * ```ts
 * const calls = (await readEvents(dir)).filter(({ type }) => type === "tool_call");
 * ```
 */
export async function readEvents(dir: string): Promise<EventLine[]> {
	checkArguments({ dir: [dir, "string"] });
	const text = await readWhole(join(dir, RUN_FILES.events));
	return (text ?? "").split("\n").flatMap((line) => (line === "" ? [] : (parseEvent(line) ?? [])));
}

/** What the tools of a run returned, by call, from its saved conversation. Images are left out. */
export async function readToolOutputs(dir: string): Promise<Map<string, string>> {
	const text = await readWhole(join(dir, RUN_FILES.session));
	const outputs = new Map<string, string>();
	for (const line of (text ?? "").split("\n")) {
		if (!line.includes('"toolResult"')) continue; // most lines are not about tools and need not be parsed
		const entry = parseJson(line);
		const message = isObject(entry) ? entry.message : undefined;
		if (!isObject(message) || message.role !== "toolResult" || typeof message.toolCallId !== "string") continue;
		outputs.set(message.toolCallId, textIn(message.content));
	}
	return outputs;
}

function textIn(content: unknown): string {
	if (typeof content === "string") return content;
	const parts = Array.isArray(content) ? content : [];
	return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : [])).join("\n");
}

function parseMeta(text: string): Meta | undefined {
	const meta = checked(metaSchema(), upgradedMeta(parseJson(text)));
	if (!meta || meta.runId !== runIdOf(meta)) return undefined;
	const places = [meta.cwd, meta.spec.cwd, meta.spec.runsDir, meta.systemPromptPath];
	return places.every((place) => place === undefined || isAbsolute(place)) ? meta : undefined;
}

/** Whether a value from outside is a spec that a runner can use. */
export function isRunSpec(value: unknown): value is RunSpec {
	return Check(specSchema(), value);
}

export function parseResult(text: string): ResultFile | undefined {
	const result = checked(resultSchema(), parseJson(text));
	return result && result.runId === runIdOf(result) ? result : undefined;
}

export function parseOwner(text: string): OwnerFile | undefined {
	return checked(ownerSchema(), parseJson(text));
}

/** A line of `live.jsonl`; undefined if it is broken, as when the file starts over. */
export function parseLive(line: string): LiveLine | undefined {
	const value = parseJson(line);
	return Check(liveSchema(), value) ? value : undefined;
}

/** A line of `control.jsonl`; undefined if it is broken or from a newer version. */
export function parseControl(line: string): ControlLine | undefined {
	const value = parseJson(line);
	return Check(controlSchema(), value) ? value : undefined;
}

/** A line of the log; undefined if it is broken or from a newer version. */
export function parseEvent(line: string): EventLine | undefined {
	const value = parseJson(line);
	const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
	const schema = typeof type === "string" ? eventLineSchemas().get(type) : undefined;
	return schema && Check(schema, value) ? (value as EventLine) : undefined;
}

function checked<
	Schema extends ReturnType<typeof metaSchema | typeof resultSchema | typeof wrapperSchema | typeof ownerSchema>,
>(schema: Schema, value: unknown): Static<Schema> | undefined {
	return Check(schema, value) ? value : undefined;
}

async function readWhole(path: string): Promise<string | undefined> {
	return (await readPlain(path, MAX_FILE_BYTES))?.toString("utf8");
}
