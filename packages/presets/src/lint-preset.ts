/** What looks like a mistake in one preset when all of them are known. Pure. */
import { fields } from "./fields.ts";
import { findPreset } from "./merge.ts";
import { nameKey } from "./names.ts";
import type { Draft, FieldKey, Preset, Problem } from "./preset.ts";
import { closest, didYouMean, resembling } from "./suggest.ts";
import { quote } from "./text.ts";

/** Tools that pi brings, and those that this suite adds. Extensions have more, so an unknown name is not an error here. */
export const knownTools: readonly string[] = [
	"read",
	"bash",
	"edit",
	"write",
	"grep",
	"find",
	"ls",
	"ask_main_session",
];

const longPrompt = 20_000;

/** What looks like a mistake in one preset, given all of them and the keys of names that broken files hold. */
export function lintPreset(preset: Preset, all: readonly Preset[], held: ReadonlySet<string> = new Set()): Problem[] {
	const problems: Problem[] = [];
	const tell = teller(preset, problems);
	if (preset.prompt === "") tell("warning", undefined, "the body is empty: say what the agent should do");
	if (preset.prompt.length > longPrompt)
		tell("warning", undefined, `the body has ${preset.prompt.length} characters, sent with every run: shorten it`);
	if (preset.origins.description === "default")
		tell("warning", "description", "there is no description: say when to choose this preset");
	return [...problems, ...lintFields(preset, all, held)];
}

/** The part of it that does not need a usable preset. */
export function lintFields(preset: Draft, all: readonly Preset[], held: ReadonlySet<string>): Problem[] {
	const problems: Problem[] = [];
	const tell = teller(preset, problems);
	if (preset.model === undefined && preset.enabled !== false && preset.source.flavour === "subagents") {
		const message = "there is no model, so the call or the settings must name one: add one, or `model: inherit`";
		tell("warning", "model", message);
	}
	for (const tool of Array.isArray(preset.tools) ? preset.tools : []) {
		const meant = knownTools.includes(tool) ? undefined : closest(tool, knownTools);
		if (meant !== undefined) tell("warning", "tools", `unknown tool ${quote(tool)}: did you mean "${meant}"?`);
		if (preset.disallowedTools?.includes(tool))
			tell("warning", "disallowedTools", `${quote(tool)} is allowed by "tools" and denied here: it is denied`);
	}
	for (const tool of preset.disallowedTools ?? []) {
		const meant = knownTools.includes(tool) ? undefined : resembling(tool, knownTools);
		if (meant === undefined) continue; // other tools exist elsewhere, and denying them in advance is fine
		const message = `unknown tool ${quote(tool)} (did you mean "${meant}"?): the agent does not start until this is corrected`;
		tell("error", "disallowedTools", message);
	}
	for (const name of Array.isArray(preset.subagents) ? preset.subagents : []) {
		if (findPreset(all, name) !== undefined || held.has(nameKey(name))) continue; // a broken file has its own error
		const names = all.map((each) => each.name);
		const suggestion = didYouMean(name, names) || ": create it or remove the name";
		tell("warning", "subagents", `there is no preset ${quote(name)}${suggestion}`);
	}
	return problems;
}

function teller({ path, name, origins }: Draft, problems: Problem[]) {
	return (severity: Problem["severity"], key: FieldKey | undefined, message: string): void => {
		const origin = key === undefined ? undefined : origins[key];
		const line = typeof origin === "object" ? origin.line : 1;
		const field = fields.find((each) => each.key === key)?.name;
		problems.push({
			...{ path, line, column: 1, severity },
			...(field === undefined ? {} : { field }),
			...(name === undefined ? {} : { preset: name }),
			message,
		});
	};
}
