/** Finds a program of ours, built or not, and refuses one of another build. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILD, requireOwnBuild } from "./own-build.ts";

/**
 * The first of these files that is there. `url` is the caller's `import.meta.url`, and the places are relative to it; the
 * first is where a bundle has the file beside itself.
 */
export function builtFile(url: string | undefined, places: readonly [string, ...string[]]): string {
	const files = url ? places.map((place) => fileURLToPath(new URL(place, url))) : [];
	const file = files.find(existsSync) ?? (BUILD === undefined ? undefined : files[0]);
	if (file !== undefined) return requireOwnBuild(file, url);
	throw new Error(`${basename(places[0])} is not built, or lies elsewhere: say where, in the options.`);
}
