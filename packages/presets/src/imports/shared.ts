/** Fields of other sub-agent programs that have a counterpart here. They are read in files of any kind and in settings. */

import { findField, squash } from "../fields/spelling.ts";
import { readValue } from "../fields/values.ts";
import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { mappingEntries, splitItems } from "../model/items.ts";
import { plainText, quote } from "../model/text.ts";
import { readHooks, readPermissionMode } from "./claude.ts";
import { readPermission } from "./opencode.ts";
import type { Rewrite } from "./rewrite.ts";

type Read = (file: Rewrite, entry: Entry) => void;

const readers: ReadonlyMap<string, Read> = new Map(
	(
		[
			["permission", readPermission],
			["permissions", readPermission],
			["permissionMode", readPermissionMode],
			["hooks", readHooks],
			["disable", readDisabled],
			["disabled", readDisabled],
			["spawning", readSpawning],
			["allowSubagents", readSpawning],
			["allowNestedSubagents", readSpawning],
			["maxDepth", readDepth],
			["maxSubagentDepth", readDepth],
			["systemPrompt", readSystemPrompt],
			["sessionMode", readContext],
			["defaultContext", readContext],
			["inheritSkills", readInherited],
			["inheritExtensions", readInherited],
		] as const
	).map(([name, read]) => [squash(name), read]),
);

/** Whether another program has a field of that name with a counterpart here. */
export function isForeignLimit(key: string): boolean {
	return readers.has(squash(key));
}

/** Whether an entry is one of these fields, or has a value that only other programs write. */
export function isForeign({ key, value }: Entry): boolean {
	if (isForeignLimit(key)) return true;
	const field = findField(key)?.key;
	if (field === "tools") return /\(|agent|task/i.test(plainText(value));
	if (field === "model") return Array.isArray(value) || (typeof value === "string" && value.includes(","));
	return field === "memory" && typeof value === "object" && value !== null;
}

/** Translates them. */
export function readShared(file: Rewrite, entries: readonly Entry[]): void {
	for (const entry of entries) {
		const read = readers.get(squash(entry.key));
		if (read !== undefined) for (const taken of file.take(entry.key)) read(file, taken);
	}
	readModels(file);
	readMemory(file);
}

/** `disabled: true` is `enabled: false`. */
function readDisabled(file: Rewrite, entry: Entry): void {
	const reading = readValue({ type: "boolean" }, entry.value);
	if (!reading.ok)
		file.refuse(entry, `${quote(entry.key)} must be \`true\` or \`false\`, but is ${quote(entry.value)}`);
	if (!reading.ok || reading.value !== true) return;
	file.disable(entry);
	file.note(entry, `${entry.key}: true`, "enabled: false");
}

/** Whether it may start agents, or which ones. */
function readSpawning(file: Rewrite, entry: Entry): void {
	const reading = readValue({ type: "preset names" }, entry.value);
	if (!reading.ok) {
		file.refuse(entry, `${quote(entry.key)} must be \`true\`, \`false\` or preset names, but is ${quote(entry.value)}`);
		return;
	}
	const names = reading.value as "*" | readonly string[];
	file.putSubagents(names, entry);
	file.note(entry, entry.key, `subagents: ${names === "*" ? names : names.join(", ") || "none"}`);
}

/** A depth limit is one setting for all presets here; only a depth of 0 can be translated. */
function readDepth(file: Rewrite, entry: Entry): void {
	const depth = Number(entry.value);
	if (entry.value !== null && depth === 0) {
		file.putSubagents([], entry);
		file.note(entry, `${entry.key}: 0`, "subagents: none");
		return;
	}
	const opened = file.entryOf("subagents");
	const reading = readValue({ type: "preset names" }, opened?.value ?? false);
	const startsAny = opened !== undefined && !(reading.ok && Array.isArray(reading.value) && reading.value.length === 0);
	const message = "the setting `maxDepth` limits the levels of agents, for all presets";
	if (startsAny)
		file.refuse(entry, `${quote(entry.key)} cannot be enforced: ${message}; set it there and remove this field`);
	else file.reportLoss(entry, entry.key, "this agent starts no others");
}

/** `append`, `replace`, or the prompt itself. */
function readSystemPrompt(file: Rewrite, entry: Entry): void {
	const text = typeof entry.value === "string" ? entry.value.trim() : "";
	if (/^(?:append|replace)$/i.test(text)) {
		file.put("prompt_mode", text, entry);
		file.note(entry, `${entry.key}: ${text}`, `prompt_mode: ${text}`);
	} else if (text !== "") {
		file.putPrompt(text);
		file.note(entry, entry.key, "the body, if the file has none");
	}
}

/** A forked session starts with the conversation; any other starts empty. */
function readContext(file: Rewrite, entry: Entry): void {
	const isForked = entry.value === "fork";
	file.note(entry, `${entry.key}: ${plainText(entry.value)}`, isForked ? "inherit_context: true" : undefined);
	if (isForked && file.entryOf("inheritContext") === undefined) file.put("inherit_context", true, entry);
}

/** Without a list it is the field itself; with one it adds nothing, because a list is complete here. */
function readInherited(file: Rewrite, entry: Entry): void {
	const key = squash(entry.key) === "inheritskills" ? "skills" : "extensions";
	const named = readValue({ type: "switch or list" }, file.entryOf(key)?.value ?? "");
	const reading = readValue({ type: "boolean" }, entry.value);
	const isList = file.entryOf(key) !== undefined && named.ok && Array.isArray(named.value);
	if (!isList)
		file.put(key, entry.value, entry); // given twice, it makes the preset unusable
	else if (!reading.ok)
		file.refuse(entry, `${quote(entry.key)} must be \`true\` or \`false\`, but is ${quote(entry.value)}`);
	else if (reading.value === true)
		file.warn(
			entry,
			`"${key}" is a complete list, so ${quote(entry.key)} adds nothing: write \`${key}: true\` for all of them`,
		);
}

/** The first of several models is the one to use; the others are fallbacks. */
function readModels(file: Rewrite): void {
	const entry = file.entryOf("model");
	if (entry === undefined || !isForeign(entry)) return;
	const [model, ...others] = splitItems(entry.value) ?? [];
	if (model === undefined) return;
	file.take(entry.key);
	file.put("model", model, entry);
	if (others.length === 0) return;
	const fallbacks = file.entryOf("fallbackModels");
	if (fallbacks !== undefined) file.take(fallbacks.key);
	file.put("fallback_models", [...others, ...(splitItems(fallbacks?.value ?? []) ?? [])], fallbacks ?? entry);
	file.note(entry, `${entry.key}: ${[model, ...others].join(", ")}`, `model: ${model}; fallback_models`);
}

/** `memory: { scope, path }`. */
function readMemory(file: Rewrite): void {
	const entry = file.entryOf("memory");
	const pairs = mappingEntries(entry?.value);
	if (entry === undefined || pairs === undefined) return;
	const scope = pairs.find(([key]) => key === "scope")?.[1];
	file.take(entry.key);
	file.put("memory", scope === undefined ? entry.value : scope, entry);
	if (pairs.some(([key]) => key === "path"))
		file.reportLoss(entry, `${entry.key}.path`, "the scope decides where it is");
}
