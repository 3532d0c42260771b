import { isAbsolute, relative, sep } from "node:path";

/**
 * Whether the path is the directory or inside it, comparing the paths as written; resolving links is up to the
 * caller.
 */
export function isWithin(path: string, directory: string): boolean {
	const way = relative(directory, path);
	return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
