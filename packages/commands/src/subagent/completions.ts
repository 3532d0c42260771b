/** Completions while `/subagent …` is typed: subcommands first, then agents by id and presets by name. Pure. */
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { AgentRecord } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "@pi-subagents/widget/cells";
import type { Completion, Subcommand } from "../subcommand.ts";
import { sortByActivity } from "../text/agent-text.ts";

const DESCRIPTION_COLUMNS = 80;

export function complete(subcommands: readonly Subcommand[], typed: string): AutocompleteItem[] {
	const [name = "", argument] = splitOnce(typed);
	const named = subcommands.filter((each) => each.name.startsWith(name.toLowerCase()));
	const completions =
		argument === undefined
			? named.map(({ name: value, about }) => ({ value, label: value, description: about }))
			: (named.find((each) => each.name === name.toLowerCase())?.completions?.() ?? [])
					.filter((completion) => begins(completion, argument))
					.map((completion) => ({ ...completion, value: `${name} ${completion.value}` }));
	// Completing to the text already typed would swallow the Enter key.
	return completions.filter(({ value }) => value.toLowerCase() !== typed.toLowerCase()).map(item);
}

function splitOnce(typed: string): [string, string?] {
	const space = typed.indexOf(" ");
	return space < 0 ? [typed] : [typed.slice(0, space), typed.slice(space + 1).trimStart()];
}

function begins({ value, alias }: Completion, argument: string): boolean {
	return [value, alias ?? ""].some((word) => word.toLowerCase().startsWith(argument.toLowerCase()));
}

function item({ value, label, description }: Omit<Completion, "alias">): AutocompleteItem {
	return { value, label: sanitize(label), description: clip(sanitize(description), DESCRIPTION_COLUMNS) };
}

/** Active and recent agents are the most likely targets, so they come first. */
export function agentCompletions(agents: readonly AgentRecord[]): Completion[] {
	return sortByActivity(agents).map(({ id, name, type, status, description }) => ({
		value: id,
		alias: name,
		label: `${id} ${name ?? type}`,
		description: `${status}: ${description}`,
	}));
}

export function presetCompletions(presets: readonly Preset[]): Completion[] {
	return presets.map(({ name, description }) => ({ value: name, label: name, description }));
}
