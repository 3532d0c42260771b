/** What of the user's a child in a process of its own loads, as paths: found here as the session runner finds it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_DIR_NAME, SettingsManager } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "../runner.ts";
import { extensionPaths, wantsExtensions } from "../session/extensions.ts";
import type { SessionHost } from "../session/host.ts";
import type { Place } from "../session/resources.ts";
import { chooseSkills, findSkills, requireSkills } from "../session/skills.ts";
import type { LaunchFacts } from "./arguments.ts";

/** Throws if the spec names an extension or a skill that is not there. */
export async function findResources(
	host: Pick<SessionHost, "isOwnExtension">,
	place: Place,
	spec: RunSpec,
): Promise<Pick<LaunchFacts, "extensions" | "skills" | "appendedPrompt">> {
	const { cwd, agentDir, isTrusted } = place;
	// pi locks its settings to read them, which takes longer than all the rest of a launch; most need none of it.
	const settings = () => SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	return {
		extensions: wantsExtensions(spec) ? await extensionPaths(host, place, spec, settings()) : [],
		skills: await skillPaths(place, spec, settings),
		appendedPrompt: appendedPrompt(place),
	};
}

async function skillPaths(
	place: Place,
	{ skills }: RunSpec,
	settings: () => SettingsManager,
): Promise<string[] | undefined> {
	if (skills === undefined || skills === true) return undefined;
	if (skills === false || skills.length === 0) return [];
	const all = await findSkills(place, settings());
	requireSkills(all, skills);
	return chooseSkills(all, skills).map(({ filePath }) => filePath);
}

/** As pi finds it. */
function appendedPrompt({ cwd, agentDir, isTrusted }: Place): string | undefined {
	const dirs = isTrusted ? [join(cwd, CONFIG_DIR_NAME), agentDir] : [agentDir];
	return dirs.map((dir) => join(dir, "APPEND_SYSTEM.md")).find(existsSync);
}
