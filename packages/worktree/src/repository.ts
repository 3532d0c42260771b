/** Finds the repository of a directory, with a clear error for each kind in which no agent can have a checkout. */
import { lstat, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentError } from "@pi-subagents/core";
import { readPlain } from "@pi-subagents/core/internal/files";
import { allowing, type Git, GitError, type GitOptions, gitWith, withTempDir } from "./git.ts";
import { type Allowed, type Allows, checkFilters, checkObjects } from "./own-config.ts";

export interface Repository {
	/** The root of the checkout that contains the directory. */
	main: string;
	/** The git directory shared by all checkouts. */
	commonDir: string;
	/** The checked-out commit. */
	head: string;
}

export interface CheckOptions {
	git?: Git;
	/** Which of the repository's own settings git may use. Default: none. */
	allows?: Allows | undefined;
	/** `dirty`: the working tree, committed or not. */
	base?: "head" | "dirty" | undefined;
}

/**
 * Throws an `AgentError`, before anything is launched, if no agent can have a worktree here: `NeedsOwnSettings` if
 * only the user's consent is missing.
 *
 * @example
 * ```ts
 * if (spec.isolation) await checkWorktree(spec.cwd, { allows: (main) => (isTrusted(main) ? "*" : []) });
 * ```
 */
export async function checkWorktree(cwd: string, options: CheckOptions = {}): Promise<void> {
	const { git = gitWith(), allows = () => [], base = "head" } = options;
	const { main, head } = await findRepository(cwd, git);
	const allowed = allows(main);
	const safe = allowing(git, allowed);
	await checkTree(safe, { cwd: main, main, allowed, tree: `${head}^{tree}` });
	if (base === "dirty") await checkFilters(safe, { cwd: main, main, allowed, isOnDisk: true });
}

/** Throws `NeedsOwnSettings` if the files of a tree cannot be written without settings that are not allowed. */
export async function checkTree(
	git: Git,
	options: Pick<GitOptions, "cwd" | "gitDir" | "signal"> & { main: string; allowed: Allowed; tree: string },
): Promise<void> {
	const { main, allowed, tree, ...where } = options;
	if (allowed === "*") return;
	await checkObjects(git, options);
	await withTempDir((dir) => {
		const own = { ...where, index: join(dir, "index") };
		return checkFilters(git, { ...own, main, allowed, prepare: () => git(["read-tree", tree], own) });
	});
}

export async function findRepository(cwd: string, git: Git, signal?: AbortSignal): Promise<Repository> {
	const [isBare, isInside, main, commonDir, gitDir, head, ...more] = (await look(git, cwd, signal)).split("\n");
	if (isInside !== "true") {
		throw refusal(isBare === "true" ? embedded(cwd) : inOwnDirectory(cwd));
	}
	if (!main || !commonDir || !gitDir || more.length > 0)
		throw refusal(`git does not say where the repository of ${cwd} begins.`);
	// Older gits accept any directory with the right files as a repository, for example one among a stranger's files.
	if ((await gitDirOf(main)) !== (await realpath(gitDir))) throw refusal(embedded(gitDir));
	if (head === undefined)
		throw refusal(
			`The repository ${main} has no commit yet, so there is nothing to begin with. Commit something first.`,
		);
	return { main: await realpath(main), commonDir: await realpath(commonDir), head };
}

const LOOK_MS = 30_000;

/** One line for each question, up to the first that has no answer. */
async function look(git: Git, cwd: string, signal: AbortSignal | undefined): Promise<string> {
	const places = ["--show-toplevel", "--git-common-dir", "--git-dir"];
	const asked = ["--is-bare-repository", "--is-inside-work-tree", ...places, "--verify", "--quiet", "HEAD^{commit}"];
	try {
		return await git(["rev-parse", "--path-format=absolute", ...asked], { cwd, signal, timeoutMs: LOOK_MS });
	} catch (error) {
		if (!(error instanceof GitError)) throw error;
		if (error.status !== undefined && error.stdout !== "") return error.stdout.replace(/\n$/, "");
		if (error.isMissing) throw refusal("git is not installed, or not in PATH.");
		const bare = /cannot use bare repository '(.*?)'/.exec(error.stderr)?.[1];
		if (bare !== undefined)
			throw refusal(/[/\\]\.git(?:[/\\]|$)/.test(cwd) ? inOwnDirectory(cwd) : embedded(resolve(cwd, bare)));
		if (/not a git repository/i.test(error.stderr))
			throw refusal(`${cwd} is not in a git repository. Run \`git init\` and commit, or launch it without.`);
		throw refusal(error.message);
	}
}

/** What `.git` in the root of a checkout is or points to. */
export async function gitDirOf(top: string): Promise<string | undefined> {
	const path = join(top, ".git");
	const found = await lstat(path).catch(() => undefined); // what cannot be read is not what git found
	if (!found?.isFile()) return found && realpath(path).catch(() => undefined);
	const text = (await readPlain(path, 8 * 1024))?.toString("utf8");
	const said = /^gitdir: ([^\n]+)/.exec(text ?? "")?.[1]?.replace(/\r$/, "");
	return said === undefined ? undefined : realpath(resolve(top, said)).catch(() => undefined);
}

function embedded(path: string): string {
	return `${path} is a bare repository, or files that look like one; such a directory is never opened. Work in a checkout (\`git worktree add\`).`;
}

function inOwnDirectory(cwd: string): string {
	return `${cwd} is inside a repository's own directory. Work in a checkout of it (\`git worktree add\`).`;
}

function refusal(why: string): AgentError {
	return new AgentError("no_worktree", `The agent cannot have its own worktree: ${why}`);
}
