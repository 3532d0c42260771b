/** Merges the results of many files: one preset per name, the source of higher precedence wins. Pure. */
import { nameKey, usableName } from "../model/names.ts";
import type { Draft, ParseResult, Preset, Presets, Problem } from "../model/preset.ts";

/** The results of one directory, in the order of its files. */
export interface DirectoryResults {
	readonly results: readonly ParseResult[];
}

/** What holds a name: a preset, or a broken file that reserves it, represented by its first error. */
type NameHolder = { readonly preset: Preset } | { readonly reason: Problem };

/** Merges directories given from the lowest precedence to the highest. */
export function merge(directories: readonly DirectoryResults[], found: readonly Problem[] = []): Presets {
	const problems = [...found];
	const drafts: Draft[] = [];
	const names = new Map<string, NameHolder>();
	for (const { results } of directories) {
		const own = new Map<string, NameHolder>();
		for (const { preset, problems: reported, reservedNames = [], draft } of results) {
			problems.push(...reported);
			if (preset === undefined) {
				const reason = reported.find(({ severity }) => severity === "error");
				for (const key of reservedNames.map(nameKey)) {
					if (reason !== undefined && !own.has(key)) own.set(key, { reason });
				}
				if (draft !== undefined) drafts.push(draft);
				continue;
			}
			const key = nameKey(preset.name);
			const first = own.get(key);
			if (first !== undefined && "preset" in first) problems.push(duplicateName(preset, first.preset));
			else own.set(key, { preset });
		}
		for (const [key, holder] of own) assignName(names, key, holder, problems);
	}
	const presets = [...names]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.flatMap(([, holder]) => ("preset" in holder ? [holder.preset] : []));
	return drafts.length === 0 ? { presets, problems } : { presets, problems, drafts };
}

/**
 * Finds a preset by name. Case does not matter, and a name that had to be adapted is also found as it was written.
 *
 * @example
 * findPreset(presets, "explore")?.name; // "Explore"
 */
export function findPreset<Named extends { readonly name: string }>(
	presets: readonly Named[],
	name: string,
): Named | undefined {
	const key = nameKey(name);
	const usual = nameKey(usableName(name.trim()) ?? name);
	return (
		presets.find((preset) => nameKey(preset.name) === key) ?? presets.find((preset) => nameKey(preset.name) === usual)
	);
}

function assignName(names: Map<string, NameHolder>, key: string, holder: NameHolder, problems: Problem[]): void {
	const lower = names.get(key);
	if ("preset" in holder) {
		names.set(
			key,
			lower !== undefined && "preset" in lower ? { preset: replacing(holder.preset, lower.preset) } : holder,
		);
		return;
	}
	names.set(key, holder);
	if (lower === undefined || !("preset" in lower)) return;
	// The broken file may exist to remove tools, so the less restricted preset below it must not be used instead.
	const message = `the preset "${lower.preset.name}" is unavailable until this file is fixed or removed`;
	const { path, line = 1, column = 1 } = holder.reason; // the same position, so that it is listed next to its cause
	problems.push({ path, line, column, severity: "error", preset: lower.preset.name, message });
}

function replacing(preset: Preset, lower: Preset): Preset {
	return { ...preset, replaces: [{ source: lower.source, path: lower.path }, ...(lower.replaces ?? [])] };
}

function duplicateName(preset: Preset, first: Preset): Problem {
	const origin = preset.origins.name;
	const line = typeof origin === "object" ? origin.line : 1;
	const message = `the name "${preset.name}" is already used by ${first.path}: rename one of them; this file is ignored`;
	// Agents of another program may contain duplicates and still work there.
	const severity = preset.source.kind === "import" ? "warning" : "error";
	return { path: preset.path, line, column: 1, severity, field: "name", preset: preset.name, message };
}
