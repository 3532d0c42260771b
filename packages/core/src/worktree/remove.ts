/** Removes an agent's checkout without a trace in the repository, and without touching any other checkout. */
import { lstat, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Git, tryGit } from "./git.ts";
import type { WorktreeRecord } from "./worktree-record.ts";

/** Deletes everything in it. */
export async function removeCheckout({ main, root, commonDir, gitDir }: WorktreeRecord, git: Git): Promise<void> {
	// Through a link, git would remove its target if that is a checkout of the same repository.
	const found = await lstat(root).catch(() => undefined); // gone, or git will report the error
	if (found?.isSymbolicLink()) await unlink(root);
	// Twice: once for uncommitted files, once for a lock.
	const removed = await tryGit(git, ["worktree", "remove", "--force", "--force", root], { cwd: main });
	if (removed !== undefined) return;
	// The agent may have broken the link between the two, or the original checkout is gone.
	await rm(root, { recursive: true, force: true, maxRetries: 3 });
	const isOurs = gitDir !== undefined && dirname(gitDir) === join(commonDir, "worktrees") && basename(gitDir) !== "";
	if (isOurs) await rm(gitDir, { recursive: true, force: true });
}
