/** What pi finds in a directory for a child that loads no extension. */
import { DefaultResourceLoader, type SettingsManager } from "@earendil-works/pi-coding-agent";
import type { Place } from "./resources.ts";

/** Themes and prompt templates are for people. */
export function loaderFor(
	{ cwd, agentDir }: Pick<Place, "cwd" | "agentDir">,
	settingsManager: SettingsManager,
	more: { noContextFiles?: boolean } = {},
): DefaultResourceLoader {
	const without = { noExtensions: true, noThemes: true, noPromptTemplates: true };
	return new DefaultResourceLoader({ cwd, agentDir, settingsManager, ...without, ...more });
}
