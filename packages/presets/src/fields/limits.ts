/**
 * Finds unknown fields that were probably meant to limit an agent. Ignoring one would allow the agent more than its author
 * intended, so the preset is refused, with a suggestion of the right field.
 */

import { closestWithin } from "../model/suggest.ts";
import { quote } from "../model/text.ts";
import { fields } from "./fields.ts";
import { foreignFields, squash } from "./spelling.ts";

/** Limits of other tools that this version cannot enforce. */
const unsupported: ReadonlySet<string> = new Set(["sandbox"]);

const spellings = new Map(
	fields
		.filter(({ key, onError }) => onError === "refuse" && key !== "name")
		.flatMap(({ name, aliases }) => [name, ...aliases].map((spelling) => [squash(spelling), spelling] as const)),
);

/** Words in a key that suggest a limit, and the field for it. */
const accessWords = new Map([
	...pairs(
		"tools",
		"tool tools toolset toolsets toolbox allow allowed allows allowlist whitelist permission permissions",
	),
	...pairs("tools", "readonly restrict restricted"),
	...pairs(
		"disallowed_tools",
		"deny denied denies denylist disallow disallowed forbid forbidden forbids block blocked blocklist blacklist exclude excluded",
	),
]);
const amountWords = new Map([
	...pairs("timeout", "timeout timeouts deadline duration runtime seconds minutes"),
	...pairs("budget_tokens", "tokens token"),
	...pairs("budget_cost", "budget cost usd dollars spend"),
	...pairs("max_turns", "max maximum limit limits limited quota turns iterations"),
]);
const amountSigns = new Set(["max", "maximum", "limit", "limits", "limited", "quota", "budget", "timeout", "timeouts"]);

/**
 * Why a preset with this unknown field must not be used; `undefined` when the field can be ignored. `isImported`: the file
 * was written for a program that does not know the field either and has no such limits, so only access words count.
 */
export function limitFault(key: string, { isImported }: { readonly isImported: boolean }): string | undefined {
	const word = squash(key);
	if (key.length > 40 || foreignFields.has(word)) return undefined;
	if (unsupported.has(word)) return `the field ${quote(key)} is not supported by this version`;
	const meant = meantBy(key, word, isImported);
	return meant === undefined ? undefined : `unknown field ${quote(key)} looks like a limit: did you mean "${meant}"?`;
}

function meantBy(key: string, word: string, isImported: boolean): string | undefined {
	// Two edits turn a short word into another one: "goals" is not "tools".
	const near = closestWithin(word, spellings.keys(), ({ length }) => (length < 7 ? 1 : 2));
	if (near !== undefined) return spellings.get(near);
	const words = key
		.replace(/([a-z0-9])([A-Z])/g, "$1 $2")
		.toLowerCase()
		.split(/[^a-z]+/);
	// The more specific word wins: `denied_tools` is about denying.
	const access = [...words, word].flatMap((each) => accessWords.get(each) ?? []);
	if (access.length > 0) return access.find((field) => field === "disallowed_tools") ?? access[0];
	if (isImported || !words.some((each) => amountSigns.has(each))) return undefined;
	const amounts = new Set(words.flatMap((each) => amountWords.get(each) ?? []));
	return ["timeout", "budget_tokens", "budget_cost", "max_turns"].find((field) => amounts.has(field));
}

function pairs(field: string, words: string): [string, string][] {
	return words.split(" ").map((word) => [word, field]);
}
