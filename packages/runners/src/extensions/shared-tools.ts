/** Tools of ours that another extension offers under the same name. pi offers only the one that it loaded first. */
import { type LoadedExtension, withFiles } from "./loaded.ts";
import { isOurs } from "./names.ts";
import type { RunningExtension } from "./running.ts";

export interface SharedTools {
	/** The other extension. */
	extension: LoadedExtension;
	tools: readonly string[];
	/** Whether a call reaches the other extension's. */
	isTheirs: boolean;
}

export function sharedTools(
	running: readonly RunningExtension[],
	isOwnExtension?: (path: string) => boolean,
): SharedTools[] {
	const all = withFiles(running);
	const isOwn = ([{ path, names }]: (typeof all)[number]) => isOwnExtension?.(path) || isOurs(names);
	const at = all.findIndex(isOwn);
	const own = new Set(all[at]?.[1].tools.keys());
	return all.flatMap((each, index): SharedTools[] => {
		const tools = isOwn(each) ? [] : [...each[1].tools.keys()].filter((name) => own.has(name));
		return tools.length > 0 ? [{ extension: each[0], tools, isTheirs: index < at }] : [];
	});
}
