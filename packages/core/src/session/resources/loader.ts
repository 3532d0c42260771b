/** pi's resource loader for a child without extensions. */
import { DefaultResourceLoader, type SettingsManager } from "@earendil-works/pi-coding-agent";
import type { ResourceScope } from "./resources.ts";

/** Themes and prompt templates are for people. */
export function loaderFor(
	{ cwd, agentDir }: Pick<ResourceScope, "cwd" | "agentDir">,
	settingsManager: SettingsManager,
	more: { noContextFiles?: boolean } = {},
): DefaultResourceLoader {
	const without = { noExtensions: true, noThemes: true, noPromptTemplates: true };
	return new DefaultResourceLoader({ cwd, agentDir, settingsManager, ...without, ...more });
}
