/** Hides a directory from git, whatever a repository brought there. */
import { join } from "node:path";
import { replaceWholeSync } from "./create.ts";
import { readPlainSync } from "./plain-file.ts";

/** The whole directory, including this file. */
export const IGNORE_ALL = "*\n";

/** One of ours is shorter. */
const MAX_BYTES = 64 * 1024;

/**
 * Hides a directory from git. A `.gitignore` that lets anything through is replaced, and so is a link, which git does
 * not follow. Throws if that fails.
 *
 * @example
 * ```ts
 * hideFromGit(join(project, ".pi", "subagents", "schedules"));
 * ```
 */
export function hideFromGit(dir: string): void {
	const path = join(dir, ".gitignore");
	if (!hidesAll(path)) replaceWholeSync(path, IGNORE_ALL);
}

/** Only `*` and comments: another line could undo it. */
function hidesAll(path: string): boolean {
	let text: string;
	try {
		text = readPlainSync(path, MAX_BYTES).toString("utf8");
	} catch {
		return false; // missing, too long, a link or something else: it is replaced
	}
	const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
	return lines.length > 0 && lines.every((line) => line === "*");
}
