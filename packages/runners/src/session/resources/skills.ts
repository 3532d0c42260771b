/** Selects a child's skills. */
import type { SettingsManager, Skill } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { loaderFor } from "./loader.ts";
import type { ResourceScope } from "./resources.ts";

/** All skills except those of extensions. */
export async function findSkills(scope: ResourceScope, settingsManager: SettingsManager): Promise<Skill[]> {
	const loader = loaderFor(scope, settingsManager, { noContextFiles: true });
	await loader.reload();
	return loader.getSkills().skills;
}

export function chooseSkills(all: readonly Skill[], wanted: RunSpec["skills"]): Skill[] {
	if (wanted === false) return [];
	if (wanted === undefined || wanted === true) return [...all];
	return all.filter(({ name }) => wanted.includes(name));
}

/** Throws if a requested skill is missing: the child would silently work without it. */
export function requireSkills(all: readonly Skill[], wanted: RunSpec["skills"]): void {
	if (!Array.isArray(wanted)) return;
	const names = all.map(({ name }) => name);
	requireAll("skill", wanted, names);
}

/** Throws an error with what is missing and what exists. */
export function requireAll(kind: string, wanted: readonly string[], there: readonly string[]): void {
	const missing = wanted.filter((name) => !there.includes(name));
	if (missing.length === 0) return;
	const choice = there.length === 0 ? "there is none" : `there is ${[...there].sort().join(", ")}`;
	throw new AgentError(
		"unsupported",
		`The agent's preset asks for the ${kind} ${missing.map((name) => `"${name}"`).join(", ")}, but ${choice}.`,
	);
}
