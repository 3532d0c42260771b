/** Hides a directory from git, whatever a repository brought there. */
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UNFINISHED } from "../files/create.ts";
import { RUN_FILES } from "./format/layout.ts";

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
	const path = join(dir, RUN_FILES.ignore);
	if (hidesAll(path)) return;
	const unfinished = `${path}.${process.pid}-${crypto.randomUUID()}${UNFINISHED}`;
	try {
		writeFileSync(unfinished, IGNORE_ALL, { flag: "wx", mode: 0o600 });
		renameSync(unfinished, path);
	} finally {
		rmSync(unfinished, { force: true });
	}
}

/** Only `*` and comments: another line could undo it. */
function hidesAll(path: string): boolean {
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (!found?.isFile() || found.size > MAX_BYTES) return false;
	const lines = readFileSync(path, "utf8")
		.split(/\r?\n/)
		.filter((line) => line !== "" && !line.startsWith("#"));
	return lines.length > 0 && lines.every((line) => line === "*");
}
