/** Finds a thread's program, built or not. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `url` is the caller's `import.meta.url`, and `source` the unbuilt program beside it. */
export function workerFile(url: string | undefined, { name, source }: { name: string; source: string }): string {
	const places = [`./${name}.js`, `../${name}.js`, source];
	const files = url ? places.map((place) => fileURLToPath(new URL(place, url))) : [];
	const file = files.find(existsSync);
	if (file === undefined) throw new Error(`${name}.js is not built, or is not beside this package's code`);
	return file;
}
