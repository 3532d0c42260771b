/** Where a thread's program is, wherever the build put the line that asks, and also when nothing is built at all. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `url` is the `import.meta.url` of whoever asks, and `source` the program beside it before it is built. */
export function workerFile(url: string | undefined, { name, source }: { name: string; source: string }): string {
	const places = [`./${name}.js`, `../${name}.js`, source];
	const files = url ? places.map((place) => fileURLToPath(new URL(place, url))) : [];
	const file = files.find(existsSync);
	if (file === undefined) throw new Error(`${name}.js is not built, or does not lie beside this package's code`);
	return file;
}
