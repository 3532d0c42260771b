/** The fields written in a preset's file. `explain` shows the resolved values. Pure. */
import type { Field, Preset } from "@pi-subagents/presets";
import { formatCount, formatDuration } from "@pi-subagents/progress";
import { type Block, fields as fieldRows } from "@pi-subagents/widget/dialogs";

/** Longer texts are clipped; the file has the rest. */
const PROMPT_CHARACTERS = 2_000;
const VALUE_CHARACTERS = 400;

export function presetDetails(preset: Preset, fields: readonly Pick<Field, "key" | "name">[]): Block[] {
	const { name, description, source, path, prompt, replaces = [] } = preset;
	const written = fields.flatMap(({ key, name: label }): [string, string][] => {
		const isWritten = typeof preset.origins[key] === "object" && key !== "name" && key !== "description";
		return isWritten ? [[label, textOf(key, preset[key])]] : [];
	});
	const rows: [string, string][] = [
		["source", source.kind === "builtin" ? "builtin" : `${source.kind}, ${path}`],
		...written,
		...replaces.map((other): [string, string] => ["replaces", `${other.source.kind}, ${other.path}`]),
	];
	const more = prompt.length - PROMPT_CHARACTERS;
	return [
		{ text: `Preset ${name}: ${description}`, tone: "strong" },
		fieldRows(rows),
		{ text: prompt.slice(0, PROMPT_CHARACTERS) },
		...(more > 0 ? [{ text: `(${formatCount(more, "more character")})`, tone: "muted" as const }] : []),
		{ text: `/subagent explain ${name} shows its resolved values.`, tone: "muted" },
	];
}

function textOf(key: string, value: unknown): string {
	if (typeof value === "number" && key.endsWith("Ms")) return value === 0 ? "no limit" : formatDuration(value);
	if (Array.isArray(value)) return value.join(", ") || "none";
	const text = typeof value === "object" ? JSON.stringify(value) : String(value);
	return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS - 1)}…` : text;
}
