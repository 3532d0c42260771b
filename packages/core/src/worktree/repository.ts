/** What kind of repository a directory is in, and a clear word for each kind in which no agent can have a checkout of its own. */
import { realpath } from "node:fs/promises";
import { AgentError } from "../error.ts";
import { type Git, GitError, gitWith, tryGit } from "./git.ts";

export interface Repository {
	/** The top of the checkout that the directory is in. */
	main: string;
	/** What all checkouts of the repository share. */
	commonDir: string;
	/** The commit that is checked out. */
	head: string;
}

/**
 * Throws an `AgentError` for a directory in which no agent can have a worktree, so that whoever asks hears of it at once.
 *
 * @example
 * ```ts
 * if (spec.isolation) await checkWorktree(spec.cwd);
 * ```
 */
export async function checkWorktree(cwd: string, git: Git = gitWith()): Promise<void> {
	await findRepository(cwd, git);
}

export async function findRepository(cwd: string, git: Git, signal?: AbortSignal): Promise<Repository> {
	const options = { cwd, signal, timeoutMs: LOOK_MS };
	const [isBare, isInside] = (await look(git, cwd, signal)).split("\n");
	if (isInside !== "true") {
		const what =
			isBare === "true" ? "is a bare repository, which has no files" : "is inside a repository's own directory";
		throw refusal(`${cwd} ${what}. Work in a checkout of it (\`git worktree add\`).`);
	}
	const found = await git(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"], options);
	const [main, commonDir] = found.split("\n");
	if (!main || !commonDir) throw refusal(`git does not say where the repository of ${cwd} begins.`);
	const head = await tryGit(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], options);
	if (head === undefined)
		throw refusal(
			`The repository ${main} has no commit yet, so there is nothing to begin with. Commit something first.`,
		);
	return { main: await realpath(main), commonDir: await realpath(commonDir), head };
}

const LOOK_MS = 30_000;

async function look(git: Git, cwd: string, signal: AbortSignal | undefined): Promise<string> {
	try {
		return await git(["rev-parse", "--is-bare-repository", "--is-inside-work-tree"], {
			cwd,
			signal,
			timeoutMs: LOOK_MS,
		});
	} catch (error) {
		if (!(error instanceof GitError)) throw error;
		if (error.isMissing) throw refusal("git is not installed, or not in PATH.");
		if (/not a git repository/i.test(error.stderr))
			throw refusal(`${cwd} is in no git repository. Run \`git init\` and commit, or launch it without.`);
		throw refusal(error.message);
	}
}

function refusal(why: string): AgentError {
	return new AgentError("no_worktree", `The agent cannot have a worktree of its own: ${why}`);
}
