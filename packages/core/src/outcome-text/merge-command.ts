/** The command that takes over an agent's branch. Pure. */

/** What the command depends on: a part of a checkout's record. */
export interface MergeBase {
	main: string;
	base: string;
	/** A branch that starts from a snapshot must not bring that in as a commit. */
	isSnapshot: boolean;
	isElsewhere: boolean;
}

/** What a user runs to take over the branch: uncommitted work that it began with must not arrive as a commit. */
export function mergeCommand({ main, base, isSnapshot, isElsewhere }: MergeBase, branch: string): string {
	const where = isElsewhere ? ["-C", main] : [];
	const what = isSnapshot ? ["cherry-pick", `${base.slice(0, 12)}..${branch}`] : ["merge", branch];
	return ["git", ...where, ...what].map(quotedForShell).join(" ");
}

function quotedForShell(word: string): string {
	return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
