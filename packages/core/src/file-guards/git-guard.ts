/**
 * Keeps agents' file tools out of git directories: git runs programs that files there name, which would give an agent
 * without a shell one. Covers every spelling that some file system treats as `.git`.
 */
import { pathAsPiReadsIt, realPathOf } from "./path-guard.ts";

/** Why the tool must not run, as a sentence for the model. */
export function gitRefusal({ tool, input, cwd }: { tool: string; input: unknown; cwd: string }): string | undefined {
	const { path }: { path?: unknown } = Object(input);
	if ((tool !== "edit" && tool !== "write") || typeof path !== "string") return undefined;
	const wanted = pathAsPiReadsIt(path, cwd);
	const names = [wanted, realPathOf(wanted)].flatMap((each) => each.split(/[/\\]/));
	if (!names.some(isGitName)) return undefined;
	return `${path} is in a git directory, where agents must not write: git runs programs named there. Use git commands instead.`;
}

/** Code points that macOS ignores when it compares names. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Windows ignores trailing dots and spaces, has short names, and reads what follows a colon as a stream of the file.
 */
const GIT_NAME = /^(?:\.git|git~\d+)[. ]*(?:$|:)/i;

/** Whether some file system treats this name as `.git`. */
function isGitName(name: string): boolean {
	return GIT_NAME.test(name.replace(IGNORED, ""));
}
