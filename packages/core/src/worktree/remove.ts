/** Takes a checkout of an agent away, without a trace in the repository and without touching any other checkout. */
import { lstat, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Git, tryGit } from "./git.ts";
import type { Place } from "./place.ts";

/** Whatever lies in it is gone afterwards. */
export async function removeCheckout({ main, root, commonDir, gitDir }: Place, git: Git): Promise<void> {
	// Through a link git would remove what that leads to, if it is a checkout of the same repository.
	const found = await lstat(root).catch(() => undefined); // gone, or git says why it cannot be
	if (found?.isSymbolicLink()) await unlink(root);
	// Twice: once for files that nobody keeps, once for a lock that somebody put on it.
	const removed = await tryGit(git, ["worktree", "remove", "--force", "--force", root], { cwd: main });
	if (removed !== undefined) return;
	// The agent may have broken the link between the two, or the checkout that it was made from is gone.
	await rm(root, { recursive: true, force: true, maxRetries: 3 });
	const isOurs = gitDir !== undefined && dirname(gitDir) === join(commonDir, "worktrees") && basename(gitDir) !== "";
	if (isOurs) await rm(gitDir, { recursive: true, force: true });
}
