/** Finds probable mistakes in one preset, given all of them. Pure. */

import { findPreset } from "../catalogue/merge.ts";
import { fields } from "../fields/fields.ts";
import { builtinTools } from "../fields/values.ts";
import { nameKey } from "../model/names.ts";
import type { Draft, FieldKey, Preset, Problem } from "../model/preset.ts";
import { closest, didYouMean, resembling } from "../model/suggest.ts";
import { quote } from "../model/text.ts";

/** The tools of pi and of this suite. Extensions add more, so an unknown name is not an error. */
export const knownTools: readonly string[] = [...builtinTools, "ask_main_session"];

const longPrompt = 20_000;

/** The probable mistakes in one preset, given all of them and the keys of the names that broken files reserve. */
export function lintPreset(
	preset: Preset,
	all: readonly Preset[],
	reserved: ReadonlySet<string> = new Set(),
): Problem[] {
	const problems: Problem[] = [];
	const report = reporter(preset, problems);
	if (preset.prompt === "") report("warning", undefined, "the body is empty: say what the agent should do");
	if (preset.prompt.length > longPrompt)
		report("warning", undefined, `the body has ${preset.prompt.length} characters, sent with every run: shorten it`);
	if (preset.origins.description === "default")
		report("warning", "description", "there is no description: say when to use this preset");
	return [...problems, ...lintFields(preset, all, reserved)];
}

/** The checks that do not need a usable preset. */
export function lintFields(preset: Draft, all: readonly Preset[], reserved: ReadonlySet<string>): Problem[] {
	const problems: Problem[] = [];
	const report = reporter(preset, problems);
	if (preset.model === undefined && preset.enabled !== false && preset.source.flavour === "subagents") {
		const message = "there is no model, so the call or the settings must name one: add one, or `model: inherit`";
		report("warning", "model", message);
	}
	for (const tool of Array.isArray(preset.tools) ? preset.tools : []) {
		const meant = knownTools.includes(tool) ? undefined : closest(tool, knownTools);
		if (meant !== undefined) report("warning", "tools", `unknown tool ${quote(tool)}: did you mean "${meant}"?`);
		if (preset.disallowedTools?.includes(tool))
			report("warning", "disallowedTools", `${quote(tool)} is allowed by "tools" and denied here: it is denied`);
	}
	for (const tool of preset.disallowedTools ?? []) {
		const meant = knownTools.includes(tool) ? undefined : resembling(tool, knownTools);
		if (meant === undefined) continue; // it may be a tool of an extension, which may be denied in advance
		const message = `unknown tool ${quote(tool)} (did you mean "${meant}"?): the agent does not start until this is fixed`;
		report("error", "disallowedTools", message);
	}
	for (const name of Array.isArray(preset.subagents) ? preset.subagents : []) {
		if (findPreset(all, name) !== undefined || reserved.has(nameKey(name))) continue; // a broken file has its own error
		const names = all.map((each) => each.name);
		const suggestion = didYouMean(name, names) || ": create it or remove the name";
		report("warning", "subagents", `there is no preset ${quote(name)}${suggestion}`);
	}
	return problems;
}

function reporter({ path, name, origins }: Draft, problems: Problem[]) {
	return (severity: Problem["severity"], key: FieldKey | undefined, message: string): void => {
		const origin = key === undefined ? undefined : origins[key];
		const line = typeof origin === "object" ? origin.line : 1;
		const field = fields.find((each) => each.key === key)?.name;
		problems.push({
			path,
			line,
			column: 1,
			severity,
			...(field === undefined ? {} : { field }),
			...(name === undefined ? {} : { preset: name }),
			message,
		});
	};
}
