/** Serializes a preset to its file format. Pure; uses the field table of the parser. */
import type { Field, Kind, Preset, PresetFields, PresetSource } from "@pi-subagents/presets";

/** What is written. */
export type PresetDraft = Pick<Preset, "name" | "description" | "prompt"> & PresetFields;

/** `source` is where the file will be: fields equal to the default there are left out. */
export function presetText(draft: PresetDraft, fields: readonly Field[], source: PresetSource): string {
	const lines = fields.flatMap(({ key, name, kind, fallback }) => {
		const value: unknown = draft[key];
		return value === undefined || value === fallback?.(source) ? [] : [`${name}: ${written(kind, value)}`];
	});
	return ["---", ...lines, "---", draft.prompt.trim(), ""].join("\n");
}

function written(kind: Kind, value: unknown): string {
	if (Array.isArray(value)) return listed(kind, value.map(String));
	if (kind.type === "duration") return `${value}ms`;
	if (kind.type === "verify" || kind.type === "worktree") return JSON.stringify(withUnits(value as object));
	return typeof value === "string" ? scalar(value) : JSON.stringify(value);
}

/** The times in a mapping, as files say them. */
function withUnits(value: object): object {
	const entries = Object.entries(value).map(([key, each]) =>
		key.endsWith("Ms") ? [key.slice(0, -"Ms".length), `${each}ms`] : [key, each],
	);
	return Object.fromEntries(entries);
}

function listed(kind: Kind, items: readonly string[]): string {
	if (items.length === 0) return kind.type === "tools" || kind.type === "preset names" ? "none" : "[]";
	// Commas inside parentheses do not separate, so an unbalanced name would swallow the next ones.
	return items.some((item) => /[()]/.test(item)) ? JSON.stringify(items) : scalar(items.join(", "));
}

/** Unquoted only if every YAML parser reads it as a string. */
function scalar(text: string): string {
	const isPlain =
		/^[A-Za-z][\w .,;/@()+~'-]*(?::[\w/.-]+)*$/.test(text) && !/ $|^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
	return isPlain ? text : JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);
}

function escaped(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
