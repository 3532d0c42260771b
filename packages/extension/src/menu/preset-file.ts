/** Where preset files of the user's own lie, what is wrong with a text for one, and how it gets there. */
import { join } from "node:path";
import type { Preset, PresetSource, Problem } from "@pi-subagents/presets";
import { loadPresets } from "../presets.lazy.ts";
import { editSmallFile } from "../small-file.ts";
import { isError, problemText } from "./problems.ts";

export interface Place {
	scope: "project" | "global";
	path: string;
	source: PresetSource;
}

/** Where a new preset could go: into the project, or to the user's own. */
export async function placesFor(name: string, { cwd, agentDir }: { cwd: string; agentDir: string }): Promise<Place[]> {
	const { findPresetRoot } = await loadPresets();
	// Beside those that are there already: a nearer directory would hide them.
	const root = (await findPresetRoot(cwd, join(".pi", "agents"))) ?? (await findPresetRoot(cwd)) ?? cwd;
	return [
		{
			scope: "project",
			path: join(root, ".pi", "agents", `${name}.md`),
			source: { kind: "project", flavour: "agents", inProject: true },
		},
		{
			scope: "global",
			path: join(agentDir, "agents", `${name}.md`),
			source: { kind: "global", flavour: "agents", inProject: false },
		},
	];
}

export interface Checked {
	/** None when the text cannot be used as it stands. */
	preset?: Preset;
	/** The errors first. */
	problems: readonly Problem[];
}

export async function checkPreset(
	text: string,
	{ path, source }: { path: string; source: PresetSource },
	all: readonly Preset[],
): Promise<Checked> {
	const { parsePreset, lintPreset } = await loadPresets();
	const { preset, problems } = parsePreset(text, { path, source });
	const found = [...problems, ...(preset ? lintPreset(preset, all) : [])];
	const sorted = [...found.filter(isError), ...found.filter((problem) => !isError(problem))];
	return preset && !found.some(isError) ? { preset, problems: sorted } : { problems: sorted };
}

/** Whole or not at all, and never over a file that is there. */
export async function writeNew(path: string, text: string): Promise<void> {
	await editSmallFile(path, (before) => {
		if (before !== undefined) throw new Error(`${path} is there already; it was left as it is.`);
		return text;
	});
}

/** Whole or not at all, and never over what somebody else has written meanwhile. */
export async function replaceText(path: string, before: string, after: string): Promise<void> {
	await editSmallFile(path, (current) => {
		if (current !== before) throw new Error(`${path} was changed by somebody else meanwhile; it was left as it is.`);
		return after;
	});
}

/** Why this cannot be the name of a new preset. `taken` are those that files hold already, usable or not. */
export async function nameFault(name: string, taken: readonly string[]): Promise<string | undefined> {
	const text = `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n`;
	const source: PresetSource = { kind: "global", flavour: "subagents", inProject: false };
	const { preset, problems } = (await loadPresets()).parsePreset(text, { path: "new.md", source });
	if (!preset) return problems.map(problemText)[0] ?? "the name cannot be used";
	if (isDevice(name)) return `"${name}" cannot be the name of a file everywhere: choose another`;
	const key = keyOf(name);
	return taken.some((each) => keyOf(each) === key)
		? `there is a preset "${name}" already: choose another name`
		: undefined;
}

/** Such names are devices on Windows, and a dot at the end is lost there. */
function isDevice(name: string): boolean {
	return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/i.test(name);
}

function keyOf(name: string): string {
	return name.normalize("NFC").toLowerCase();
}
