/** pi's resource loader for a child without extensions. */
import { createExtensionRuntime, DefaultResourceLoader, type SettingsManager } from "@earendil-works/pi-coding-agent";
import type { ResourceScope } from "./resources.ts";

/** Themes and prompt templates are for people. */
export function loaderFor(
	{ cwd, agentDir }: Pick<ResourceScope, "cwd" | "agentDir">,
	settingsManager: SettingsManager,
	more: { noContextFiles?: boolean } = {},
): DefaultResourceLoader {
	const without = { noExtensions: true, noThemes: true, noPromptTemplates: true };
	return withoutPisCache(new DefaultResourceLoader({ cwd, agentDir, settingsManager, ...without, ...more }));
}

/**
 * A loader that loads no extensions. pi keeps the modules of its extensions for one directory, and forgets them as soon
 * as a loader for another one looks for extensions, even if it finds none: pi's own would be evaluated again, without
 * their state. The method is pi's own business; where it has another name, pi's cache is lost as before.
 */
export function withoutPisCache(loader: DefaultResourceLoader): DefaultResourceLoader {
	if ("loadFinalExtensionSet" in loader)
		Object.assign(loader, {
			loadFinalExtensionSet: async () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
		});
	return loader;
}
