/** The user's preset files: where they go, how a text is checked, and how it is written. */
import { join } from "node:path";
import { nameKey } from "@pi-subagents/core/internal/base";
import { editSmallFile } from "@pi-subagents/core/internal/files";
import { loadPresets } from "@pi-subagents/launch";
import type { Preset, PresetSource, Problem } from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";
import type { Menu } from "../../screen/navigation.ts";

export interface PresetTarget {
	scope: "project" | "global";
	path: string;
	source: PresetSource;
}

/** The rules that a new file follows, wherever it goes. */
export const NEW_SOURCE: PresetSource = { kind: "global", flavour: "subagents", inProject: false };

/** Where a new preset can go: the project or the user's directory. */
export async function presetTargets(
	name: string,
	{ cwd, agentDir }: { cwd: string; agentDir: string },
): Promise<PresetTarget[]> {
	const { findPresetRoot } = await loadPresets();
	// Next to the existing ones: a nearer directory would hide them.
	const root = (await findPresetRoot(cwd)) ?? (await findPresetRoot(cwd, join(".pi", "agents"))) ?? cwd;
	return [
		{
			scope: "project",
			path: join(root, ".pi", "subagents", `${name}.md`),
			source: { kind: "project", flavour: "subagents", inProject: true },
		},
		{ scope: "global", path: join(agentDir, "subagents", `${name}.md`), source: NEW_SOURCE },
	];
}

export interface CheckedPreset {
	/** Absent when the text has errors. */
	preset?: Preset;
	/** Whether it could be used in spite of its errors: then they concern fields that would be ignored. */
	isUsable: boolean;
	/** Errors first. */
	problems: readonly Problem[];
}

export async function checkPreset(
	text: string,
	{ path, source }: { path: string; source: PresetSource },
	all: readonly Preset[],
): Promise<CheckedPreset> {
	const { parsePreset, lintPreset } = await loadPresets();
	const { preset, problems } = parsePreset(text, { path, source });
	const linted = preset ? lintPreset(preset, all) : [];
	const found = [...problems, ...linted];
	const sorted = [...found.filter(isError), ...found.filter((problem) => !isError(problem))];
	const isUsable = preset !== undefined && !linted.some(isError);
	return preset && !found.some(isError) ? { preset, problems: sorted, isUsable } : { problems: sorted, isUsable };
}

/** Atomic, and never overwrites an existing file. */
export async function writeNew(path: string, text: string): Promise<void> {
	await editSmallFile(path, (before) => {
		if (before !== undefined) throw new Error(`${path} already exists; it was not changed.`);
		return text;
	});
}

/** Atomic, and never overwrites a concurrent change. */
export async function replaceText(path: string, before: string, after: string): Promise<void> {
	await editSmallFile(path, (current) => {
		if (current !== before)
			throw new Error(`${path} was changed by another program in the meantime; it was not overwritten.`);
		return after;
	});
}

/** Includes the names of broken files, which come back once fixed. */
export async function takenNames({ launcher, ctx }: Pick<Menu, "launcher" | "ctx">): Promise<string[]> {
	const { presets, problems } = await launcher.presetReport(ctx);
	return [...presets.map(({ name }) => name), ...problems.flatMap(({ preset }) => preset ?? [])];
}

/** Why this cannot be the name of a new preset. `taken` includes the names of broken files. */
export async function nameFault(name: string, taken: readonly string[]): Promise<string | undefined> {
	const text = `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n`;
	const { preset, problems } = (await loadPresets()).parsePreset(text, { path: "new.md", source: NEW_SOURCE });
	if (!preset) return sanitize(problems[0]?.message ?? "the name cannot be used"); // there is no file whose line to name
	if (isDevice(name)) return `"${name}" is not a valid file name on every system: choose another`;
	const key = nameKey(name);
	return taken.some((each) => nameKey(each) === key)
		? `a preset "${name}" already exists: choose another name`
		: undefined;
}

/** Windows reserves these names and drops a trailing dot. */
function isDevice(name: string): boolean {
	return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/i.test(name);
}

export function isError({ severity }: Problem): boolean {
	return severity === "error";
}

export function problemText({ line, message }: Problem): string {
	return `${line === undefined ? "" : `line ${line}: `}${sanitize(message)}`;
}
