/** Which files belong to an extension. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** How far above an extension its package may begin. */
const MAX_LEVELS = 3;

/** A directory, with its separator: all packages that are installed with it, or its own package, or its directory. */
export function rootOf(path: string): string {
	const real = realpathSync(path);
	const [above = "", ...rest] = real.split(`${sep}node_modules${sep}`);
	if (rest.length > 0) return `${above}${sep}node_modules${sep}`;
	const dir = dirname(real);
	const levels = Array.from({ length: MAX_LEVELS }).map((_, level) => join(dir, ...Array(level).fill("..")));
	return (levels.find((each) => existsSync(join(each, "package.json"))) ?? dir) + sep;
}
