/** Looks before a launch whether what a preset names is there: who launches hears of it at once, not when the run fails. */
import { SettingsManager } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "../runner.ts";
import { originOf } from "../worktree/confine.ts";
import { extensionPaths, wantsExtensions } from "./extensions.ts";
import type { SessionHost } from "./host.ts";
import { findSkills, requireSkills } from "./skills.ts";

/** Throws an error that names what is missing, and what there is instead. */
export async function requireResources(
	host: Pick<SessionHost, "agentDir" | "isProjectTrusted" | "isOwnExtension">,
	spec: RunSpec,
): Promise<void> {
	if (!isNamed(spec.extensions) && !isNamed(spec.skills)) return; // to read pi's settings takes longer than all the rest
	const { agentDir } = host;
	const { cwd } = spec;
	const isTrusted = host.isProjectTrusted(originOf(spec));
	const place = { cwd, agentDir, isTrusted };
	const settings = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	await extensionPaths(host, place, spec, settings);
	// An extension may bring skills of its own, which are known only when it runs.
	if (isNamed(spec.skills) && !wantsExtensions(spec)) requireSkills(await findSkills(place, settings), spec.skills);
}

function isNamed(wanted: RunSpec["skills"]): boolean {
	return Array.isArray(wanted) && wanted.length > 0;
}
