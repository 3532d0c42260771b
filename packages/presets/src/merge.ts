/** Makes one catalogue of many files: one preset per name, the higher source wins. Pure. */
import { nameKey } from "./names.ts";
import type { Draft, ParseResult, Preset, Presets, Problem } from "./preset.ts";

/** The results of one directory, in the order of its files. */
export interface Shelf {
	readonly results: readonly ParseResult[];
}

/** A name is taken by a preset, or by a broken file that claims it: then by the reason why it is broken. */
type Holder = { readonly preset: Preset } | { readonly reason: Problem };

/** Merges shelves given from the lowest precedence to the highest. */
export function merge(shelves: readonly Shelf[], found: readonly Problem[] = []): Presets {
	const problems = [...found];
	const drafts: Draft[] = [];
	const names = new Map<string, Holder>();
	for (const { results } of shelves) {
		const own = new Map<string, Holder>();
		for (const { preset, problems: told, claims = [], draft } of results) {
			problems.push(...told);
			if (preset === undefined) {
				const reason = told.find(({ severity }) => severity === "error");
				for (const key of claims.map(nameKey)) if (reason !== undefined && !own.has(key)) own.set(key, { reason });
				if (draft !== undefined) drafts.push(draft);
				continue;
			}
			const key = nameKey(preset.name);
			const first = own.get(key);
			if (first !== undefined && "preset" in first) problems.push(sameName(preset, first.preset));
			else own.set(key, { preset });
		}
		for (const [key, holder] of own) place(names, key, holder, problems);
	}
	const presets = [...names]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.flatMap(([, holder]) => ("preset" in holder ? [holder.preset] : []));
	return drafts.length === 0 ? { presets, problems } : { presets, problems, drafts };
}

/**
 * The preset of that name; case does not matter.
 *
 * @example
 * findPreset(presets, "explore")?.name; // "Explore"
 */
export function findPreset(presets: readonly Preset[], name: string): Preset | undefined {
	const key = nameKey(name);
	return presets.find((preset) => nameKey(preset.name) === key);
}

function place(names: Map<string, Holder>, key: string, holder: Holder, problems: Problem[]): void {
	const lower = names.get(key);
	if ("preset" in holder) {
		names.set(key, lower !== undefined && "preset" in lower ? { preset: over(holder.preset, lower.preset) } : holder);
		return;
	}
	names.set(key, holder);
	if (lower === undefined || !("preset" in lower)) return;
	// The broken file may exist to take tools away, so the wider preset below it must not answer to its name.
	const message = `the preset "${lower.preset.name}" is unavailable until this file is corrected or removed`;
	const { path, line = 1, column = 1 } = holder.reason; // the same place, so that it is listed beside its reason
	problems.push({ path, line, column, severity: "error", preset: lower.preset.name, message });
}

function over(preset: Preset, lower: Preset): Preset {
	return { ...preset, replaces: [{ source: lower.source, path: lower.path }, ...(lower.replaces ?? [])] };
}

function sameName(preset: Preset, first: Preset): Problem {
	const origin = preset.origins.name;
	const line = typeof origin === "object" ? origin.line : 1;
	const message = `the name "${preset.name}" is already used by ${first.path}: rename one of them; this file is ignored`;
	return { path: preset.path, line, column: 1, severity: "error", field: "name", preset: preset.name, message };
}
