/**
 * Where agents' checkouts are: beside their records, or in a directory of the user's choice. And how they are removed:
 * without a trace in the repository, and without touching any other checkout.
 */
import { lstat, mkdir, realpath, rm, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { AgentError } from "@pi-subagents/core";
import { messageOf, quoted } from "@pi-subagents/core/internal/base";
import { hideFromGit, isWithin, realPathOf } from "@pi-subagents/core/internal/files";
import { type Git, tryGit } from "./git.ts";
import type { Repository } from "./repository.ts";
import type { WorktreeRecord } from "./worktree-record.ts";

/** Holds the records of all checkouts, and the checkouts that have no other place. */
export function worktreesDir(agentDir: string): string {
	return join(agentDir, "state", "subagents", "worktrees");
}

export interface PlaceOptions {
	/** The user's choice; absent or empty: beside the records. */
	chosen: string | undefined;
	/** The directory of the records. */
	records: string;
	/** The user's own checkout: a relative path begins there, even if an agent's checkout is the one that is copied. */
	origin: string;
	repository: Pick<Repository, "main" | "commonDir">;
	git: Git;
	signal?: AbortSignal | undefined;
}

/** The directory for a new checkout, which exists then, as a real path. Rejects where none may be. */
export async function placeFor({ chosen = "", records, origin, repository, git, signal }: PlaceOptions) {
	const given = chosen.trim();
	if (given === "") return records;
	if (given.includes("\0") || /^~[^/\\]/.test(given)) throw refused(chosen, "is not a path");
	const path = resolve(origin, given.replace(/^~/, homedir));
	const real = realPathOf(path);
	const { main, commonDir } = repository;
	const isGits = (each: string) => each.split(sep).some((name) => name.toLowerCase() === ".git");
	if (isGits(path) || isGits(real) || isWithin(real, commonDir)) throw refused(chosen, "is inside a git directory");
	if (isWithin(path, origin) && !isWithin(real, origin)) throw refused(chosen, `leads out of ${origin} through a link`);
	if (main !== origin && isWithin(real, main)) throw refused(chosen, "is inside an agent's own worktree");
	const isInside = isWithin(real, origin);
	try {
		const isNew = (await mkdir(real, { recursive: true, mode: 0o700 })) !== undefined;
		if (isNew && isInside) hideFromGit(real);
		if ((await realpath(real)) !== real) throw new Error("it was replaced by a link");
	} catch (error) {
		throw refused(chosen, `cannot be used: ${messageOf(error)}`);
	}
	if (!isInside) return real;
	// Otherwise the user's git would show the checkouts as new files, or add them.
	const asked = ["check-ignore", "--quiet", "--no-index", "--", join(relative(origin, real), "checkout")];
	if ((await tryGit(git, asked, { cwd: origin, signal })) === undefined)
		throw refused(chosen, `is inside ${origin}, where git does not ignore it; add it to .gitignore`);
	return real;
}

function refused(chosen: string, why: string): AgentError {
	return new AgentError(
		"no_worktree",
		`The agent cannot have its own worktree: \`dir\` of \`worktree\`, ${quoted(chosen)}, ${why}.`,
	);
}

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
