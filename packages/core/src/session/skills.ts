/** Which of the skills there are a child knows. */
import type { SettingsManager, Skill } from "@earendil-works/pi-coding-agent";
import { AgentError } from "../error.ts";
import type { RunSpec } from "../runner.ts";
import { loaderFor } from "./loader.ts";
import type { Place } from "./resources.ts";

/** Those that there are without any extension. */
export async function findSkills(place: Place, settingsManager: SettingsManager): Promise<Skill[]> {
	const loader = loaderFor(place, settingsManager, { noContextFiles: true });
	await loader.reload();
	return loader.getSkills().skills;
}

export function chooseSkills(all: readonly Skill[], wanted: RunSpec["skills"]): Skill[] {
	if (wanted === false) return [];
	if (wanted === undefined || wanted === true) return [...all];
	return all.filter(({ name }) => wanted.includes(name));
}

/** Throws if a skill is asked for that is not there: the child would work without it and nobody would know. */
export function requireSkills(all: readonly Skill[], wanted: RunSpec["skills"]): void {
	if (!Array.isArray(wanted)) return;
	const names = all.map(({ name }) => name);
	requireAll("skill", wanted, names);
}

/** Throws an error that names what is missing and what there is instead. */
export function requireAll(kind: string, wanted: readonly string[], there: readonly string[]): void {
	const missing = wanted.filter((name) => !there.includes(name));
	if (missing.length === 0) return;
	const choice = there.length === 0 ? "there is none" : `there is ${[...there].sort().join(", ")}`;
	throw new AgentError(
		"unsupported",
		`The agent's preset asks for the ${kind} ${missing.map((name) => `"${name}"`).join(", ")}, but ${choice}.`,
	);
}
