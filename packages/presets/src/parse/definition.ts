/** Turns a preset that another program gives as an object into a preset, with the same field table as files. Pure; never throws. */
import { nameFault, normalName, usableName } from "../model/names.ts";
import type { ParseResult, PresetSource } from "../model/preset.ts";
import { Reader } from "./reader.ts";

const source: PresetSource = { kind: "runtime", flavour: "agents", inProject: false };

/** Not fields of ours: the text is the body, and we show the name. */
const others: ReadonlySet<string> = new Set(["name", "systemPrompt", "displayName"]);

/**
 * Reads a preset given as an object. Unlike in a file, a field that cannot be used is always an error.
 *
 * @example
 * parseDefinition({ name: "scout", systemPrompt: "Be quick.", tools: ["read"] }).preset?.tools; // ["read"]
 */
export function parseDefinition(definition: Readonly<Record<string, unknown>>): ParseResult {
	const written = typeof definition.name === "string" ? normalName(definition.name.trim()) : "";
	const name = usableName(written);
	const path = `runtime:${name ?? "unnamed"}`;
	const fail = (message: string): ParseResult => ({ problems: [{ path, severity: "error", message }] });
	if (name === undefined) return fail(nameFault(written) ?? "the name is not allowed");
	const prompt = typeof definition.systemPrompt === "string" ? definition.systemPrompt : "";
	if (prompt.trim() === "") return fail("`systemPrompt` is missing: say what the agent is to do");
	const entries = Object.entries({ ...definition, name })
		.filter(([key, value]) => (key === "name" || !others.has(key)) && !isUnset(key, value))
		.map(([key, value]) => ({ key, value, line: 1, column: 1 }));
	const result = new Reader({ path, source }, name).build(entries, prompt);
	return result.problems.some(({ severity }) => severity === "error") ? { problems: result.problems } : result;
}

/** `auto` leaves it to us. */
function isUnset(key: string, value: unknown): boolean {
	return value === null || value === undefined || (key === "promptMode" && value === "auto");
}
