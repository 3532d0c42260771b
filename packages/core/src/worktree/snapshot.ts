/**
 * What lies in a checkout, as a tree and as a commit: changed, staged and new files, but none that git ignores. The
 * checkout's own index, its branches and the stash stay as they are.
 */
import { constants, copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { codeOf } from "../process/code-of.ts";
import { type Git, GitError, type GitOptions, tryGit } from "./git.ts";

export interface Checkout {
	root: string;
	gitDir: string;
	/** A directory of ours, which is no part of it even if it lies inside. */
	ignores: string;
	/** Also files that git was told not to look at (`git update-index --assume-unchanged`). */
	isWhole?: boolean;
}

export interface Snapshot {
	tree: string;
	/** What is not in it, or not as it should be, in words. */
	problems: string[];
	/** Whether all that was to be kept is in it. */
	isWhole: boolean;
}

const FILTERS_FAILED =
	"A filter of the repository (`filter.*` in its configuration) failed, so files were taken as they lie there.";

export async function snapshotOf(checkout: Checkout, git: Git, signal?: AbortSignal): Promise<Snapshot> {
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-index-"));
	try {
		const index = join(dir, "index");
		const options = { cwd: checkout.root, gitDir: checkout.gitDir, index, signal };
		if (!(await copied(join(checkout.gitDir, "index"), index))) await git(["read-tree", "HEAD"], options);
		else if (checkout.isWhole) await showHidden(git, options);
		const { problems, config } = await addAll(checkout, git, options);
		const tree = await git(["write-tree"], { ...options, config });
		return { tree, problems, isWhole: !problems.some((problem) => problem !== FILTERS_FAILED) };
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}

type OwnIndex = GitOptions & { gitDir: string; index: string };

/** Makes git look at all files again. What a sparse checkout leaves out is not there to be looked at. */
async function showHidden(git: Git, options: OwnIndex): Promise<void> {
	const isSkipped = (await isSparse(git, options)) ? /^s/ : /^[Ss]/;
	const files = ((await tryGit(git, ["ls-files", "-v", "-z"], options)) ?? "").split("\0");
	const show = async (option: string, marks: RegExp) => {
		const paths = files.filter((file) => marks.test(file)).map((file) => `${file.slice(2)}\0`);
		if (paths.length > 0) await git(["update-index", option, "-z", "--stdin"], { ...options, input: paths.join("") });
	};
	await show("--no-assume-unchanged", /^[a-z]/);
	await show("--no-skip-worktree", isSkipped);
}

async function isSparse(git: Git, options: OwnIndex): Promise<boolean> {
	return (await tryGit(git, ["config", "--type=bool", "core.sparseCheckout"], options)) === "true";
}

/** What had to be done differently, in words, and with which settings. */
async function addAll(
	{ root, ignores }: Checkout,
	git: Git,
	options: OwnIndex,
): Promise<{ problems: string[]; config?: Record<string, string> }> {
	const inside = relative(root, ignores);
	const isInside = inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
	const paths = ["--", ".", ...(isInside ? [`:(exclude,literal)${inside}`] : [])];
	const add = ["add", "--all", ...((await isSparse(git, options)) ? ["--sparse"] : [])];
	try {
		await git([...add, ...paths], options);
		return { problems: [] };
	} catch (error) {
		if (!(error instanceof GitError) || isHopeless(error)) throw error;
	}
	const config = await withoutFilters(git, options);
	try {
		await git([...add, ...paths], { ...options, config });
		return { problems: [FILTERS_FAILED], config };
	} catch (error) {
		if (!(error instanceof GitError) || isHopeless(error)) throw error;
		await tryGit(git, [...add, "--ignore-errors", ...paths], { ...options, config });
		return { problems: [`Some files could not be taken: ${error.message}`], config };
	}
}

/** No second attempt could go better. */
function isHopeless({ isMissing, stderr }: GitError): boolean {
	return isMissing || /no space left|disk quota|file too large|read-only file system|unable to write/i.test(stderr);
}

/** Settings with which no filter of the repository runs. */
export async function withoutFilters(
	git: Git,
	options: { cwd: string; gitDir?: string; signal?: AbortSignal | undefined },
): Promise<Record<string, string>> {
	const { cwd, gitDir, signal } = options;
	const found = await tryGit(git, ["config", "--null", "--name-only", "--get-regexp", "^filter\\."], {
		cwd,
		gitDir,
		signal,
	});
	const names = new Set([
		"lfs",
		...(found ?? "").split("\0").flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []),
	]);
	return Object.fromEntries([...names].flatMap(filterOff));
}

/** Settings with which large files stay what is stored for them: fetching them could take hours, and needs the network. */
export const WITHOUT_LFS: Readonly<Record<string, string>> = Object.fromEntries(filterOff("lfs"));

function filterOff(name: string): [string, string][] {
	return [
		[`filter.${name}.clean`, ""],
		[`filter.${name}.smudge`, ""],
		[`filter.${name}.process`, ""],
		[`filter.${name}.required`, "false"],
	];
}

/** A commit of this tree that no branch knows yet. */
export async function commitTree(
	options: { cwd: string; gitDir?: string | undefined; signal?: AbortSignal | undefined },
	{ tree, parents, message }: { tree: string; parents: readonly string[]; message: string },
	git: Git,
): Promise<string> {
	const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
	return git(args, { ...options, config: await someone(git, options), input: message });
}

/** Who commits: the user, or where git does not know them, we. */
async function someone(
	git: Git,
	options: { cwd: string; gitDir?: string | undefined },
): Promise<Record<string, string>> {
	const { cwd, gitDir } = options;
	const known = await Promise.all(
		["user.name", "user.email"].map((key) => tryGit(git, ["config", "--get", key], { cwd, gitDir })),
	);
	const [name, email] = known.map((value) => value?.trim() ?? "");
	return name && email ? {} : { "user.name": name || "pi-subagents", "user.email": email || "pi-subagents@localhost" };
}

async function copied(from: string, to: string): Promise<boolean> {
	try {
		const { mtimeMs } = await stat(from);
		await copyFile(from, to, constants.COPYFILE_EXCL);
		// A file that was written in the same moment as the index may have changed since: git tells by the index's age.
		const writtenAt = Math.floor(mtimeMs / 1_000);
		await utimes(to, writtenAt, writtenAt);
		return true;
	} catch (error) {
		if (codeOf(error) === "ENOENT") return false;
		throw error;
	}
}
