import { isAbsolute, relative, sep } from "node:path";

/** Whether the path is the directory or lies below it, as they are written: links are up to the caller. */
export function isWithin(path: string, directory: string): boolean {
	const way = relative(directory, path);
	return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
