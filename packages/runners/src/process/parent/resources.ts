/** The user's resources that a child process loads, as paths, found as the session runner finds them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_DIR_NAME, SettingsManager } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { builtinsFor, extensionPaths, wantsExtensions } from "../../session/resources/extensions.ts";
import type { SessionHost } from "../../session/resources/host.ts";
import type { ResourceScope } from "../../session/resources/resources.ts";
import { chooseSkills, findSkills, requireSkills } from "../../session/resources/skills.ts";
import type { LookedUp } from "./launch.ts";

/** Throws if the spec names a missing extension or skill, or a guard does not load. */
export async function findResources(
	host: Pick<SessionHost, "isOwnExtension" | "runningExtensions" | "guards">,
	scope: ResourceScope,
	spec: RunSpec,
): Promise<LookedUp> {
	const { cwd, agentDir, isTrusted } = scope;
	// pi locks its settings to read them, which takes longer than the rest of a launch; most launches do not need them.
	const settings = () => SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const users = wantsExtensions(spec) ? await extensionPaths(host, scope, spec, settings()) : [];
	const guards = (await host.guards?.find()) ?? [];
	const view = guards.length > 0 ? host.guards?.viewOf(spec) : undefined;
	const isGuard = new Set(guards.map(({ path }) => path));
	return {
		guards: guards.map(({ path, names }) => ({
			path,
			name: names[0] ?? path,
			offersTools: users.includes(path),
			...defined({ view }),
		})),
		guardFlags: guards.length > 0 ? ((await host.guards?.state())?.flags ?? {}) : {},
		extensions: [...builtinsFor(spec).map(({ name }) => name), ...users.filter((path) => !isGuard.has(path))],
		skills: await skillPaths(scope, spec, settings),
		appendedPrompt: appendedPrompt(scope),
	};
}

async function skillPaths(
	scope: ResourceScope,
	{ skills }: RunSpec,
	settings: () => SettingsManager,
): Promise<string[] | undefined> {
	if (skills === undefined || skills === true) return undefined;
	if (skills === false || skills.length === 0) return [];
	const all = await findSkills(scope, settings());
	requireSkills(all, skills);
	return chooseSkills(all, skills).map(({ filePath }) => filePath);
}

/** Where pi looks for it. */
function appendedPrompt({ cwd, agentDir, isTrusted }: ResourceScope): string | undefined {
	const dirs = isTrusted ? [join(cwd, CONFIG_DIR_NAME), agentDir] : [agentDir];
	return dirs.map((dir) => join(dir, "APPEND_SYSTEM.md")).find(existsSync);
}
