/** Presets as menu items, and the actions of each. Pure. */

import { type PresetReport, usablePaths } from "@pi-subagents/launch";
import type { Preset, Problem, SourceKind } from "@pi-subagents/presets";
import type { Item } from "@pi-subagents/widget/dialogs";
import { isError, problemText } from "./preset-file.ts";

/** Not valid as preset names, so they cannot collide. */
export const [NEW, DESCRIBE, FILE] = ["(new)", "(describe)", "(file)"];

type Reported = Pick<PresetReport, "presets" | "problems" | "overrideOf">;

export function presetItems(report: Reported): Item[] {
	return [
		...report.presets.map((preset) => presetItem(preset, report)),
		...brokenFiles(report).map(([path, problems]) => brokenItem(path, problems)),
		{ value: NEW, mark: { text: "+", tone: "accent" }, label: "New preset", about: "create one step by step" },
		{
			value: DESCRIBE,
			mark: { text: "+", tone: "accent" },
			label: "Describe a preset",
			about: "describe it, and an agent drafts it for your approval",
		},
	];
}

export function isOn(preset: Preset, { overrideOf }: Pick<PresetReport, "overrideOf">): boolean {
	return overrideOf(preset).fields.enabled ?? preset.enabled;
}

const KINDS: Record<SourceKind, string> = {
	builtin: "built-in",
	package: "package",
	runtime: "of an extension",
	import: "import",
	global: "global",
	project: "project",
};

function presetItem(preset: Preset, report: Reported): Item {
	const { name, description, source, path } = preset;
	const { faults } = report.overrideOf(preset);
	const on = isOn(preset, report);
	return {
		value: name,
		mark: faults.length > 0 ? { text: "!", tone: "warn" } : { text: on ? "●" : "○", tone: on ? "good" : "muted" },
		label: name,
		tag: { text: on ? KINDS[source.kind] : `${KINDS[source.kind]}, off`, tone: on ? "muted" : "warn" },
		about: description,
		...(faults.length > 0 || source.kind !== "builtin" ? { note: [...faults, path].join("\n") } : {}),
	};
}

function brokenItem(path: string, problems: readonly Problem[]): Item {
	const name = problems.find(({ preset }) => preset !== undefined)?.preset ?? path.slice(path.lastIndexOf("/") + 1);
	return {
		value: FILE + path,
		mark: { text: "✗", tone: "bad" },
		label: name,
		tag: { text: "not used", tone: "bad" },
		about: problems.map(problemText).join("; "),
		note: path,
	};
}

/** Files that could not be parsed, each with its problems. */
function brokenFiles({ presets, problems }: Reported): [path: string, problems: Problem[]][] {
	const usable = usablePaths(presets);
	const broken = problems.filter(
		(problem) => isError(problem) && /\.md$/i.test(problem.path) && !usable.has(problem.path),
	);
	return [...Map.groupBy(broken, ({ path }) => path)];
}

export type PresetAction = "run" | "view" | "explain" | "edit" | "eject" | "copy" | "toggle" | "delete";

export function presetActions(preset: Preset, on: boolean): (Item & { value: PresetAction })[] {
	const isOwn = preset.source.kind === "global" || preset.source.kind === "project";
	return [
		...(on ? [{ value: "run" as const, label: "Run", about: "start an agent of this preset" }] : []),
		{ value: "view", label: "View", about: "its fields and prompt" },
		{ value: "explain", label: "Explain", about: "the resolved values and where each comes from" },
		...(isOwn
			? [{ value: "edit" as const, label: "Edit", about: preset.path }]
			: [{ value: "eject" as const, label: "Make it yours", about: "write an editable copy that replaces it" }]),
		{ value: "copy", label: "Copy under a new name", about: "write your own file, starting from this one" },
		on
			? { value: "toggle", label: "Switch off", about: "it can no longer be started; its file is unchanged" }
			: { value: "toggle", label: "Switch on", about: "it can be started again" },
		...(isOwn ? [{ value: "delete" as const, label: "Delete my copy", about: preset.path }] : []),
	];
}
