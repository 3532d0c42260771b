/** Resolves a path that a model gives to a file tool: as pi reads it, and through links. */
import { readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Whether the path leads into the directory, through any links. Neither needs to exist.
 *
 * @example
 * ```ts
 * leadsInto(project, join(project, ".pi", "subagents")); // false where `.pi` is a link to elsewhere
 * ```
 */
export function leadsInto(dir: string, path: string): boolean {
	const way = relative(realPathOf(dir), realPathOf(path));
	return way === "" || (way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way));
}

/** The real path of a file, even before it exists: its parents may be links. */
export function realPathOf(path: string, links = 0): string {
	const real = tryTo(() => realpathSync.native(path));
	if (real !== undefined) return real;
	const target = links < MAX_LINKS ? tryTo(() => readlinkSync(path)) : undefined;
	if (target !== undefined) return realPathOf(resolve(dirname(path), target), links + 1); // a link to nothing yet
	const parent = dirname(path);
	return parent === path ? path : join(realPathOf(parent, links), basename(path));
}

const MAX_LINKS = 40;

/** Undefined if the file system refuses. */
function tryTo<T>(look: () => T): T | undefined {
	try {
		return look();
	} catch (error) {
		if (error instanceof Error && "code" in error) return undefined;
		throw error;
	}
}

/** Normalizes the path the way pi's own tools do. */
export function pathAsPiReadsIt(path: string, cwd: string): string {
	const plain = path.replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ").replace(/^@/, "");
	if (plain === "~") return homedir();
	if (plain.startsWith("~/")) return join(homedir(), plain.slice(2));
	if (plain.startsWith("file://")) return tryTo(() => fileURLToPath(plain)) ?? plain;
	return resolve(cwd, plain);
}
