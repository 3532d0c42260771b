/**
 * A checkout's content as a tree and a commit: changed, staged and new files, but no ignored ones. Its index,
 * branches and stash stay as they are.
 */
import { constants, copyFile, mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import { sanitize } from "@pi-subagents/progress";
import { codeOf } from "../base/error-code.ts";
import { type Git, GitError, type GitOptions, tryGit } from "./git.ts";
import { type Allowed, checkFilters } from "./own-config.ts";

export interface Checkout {
	root: string;
	/** The user's checkout that it was made from, or is. */
	main: string;
	gitDir: string;
	/** Our own directory, not part of it even if it is inside. */
	ignores: string;
	/** Which of the repository's own settings git may use. */
	allowed: Allowed;
	/** Includes files that git was told to ignore changes of (`git update-index --assume-unchanged`). */
	isWhole?: boolean;
}

export interface Snapshot {
	tree: string;
	/** What is missing or different. */
	problems: string[];
	/** Whether it contains everything it should. */
	isWhole: boolean;
}

const FILTERS_FAILED =
	"A filter of the repository (`filter.*` in its configuration) failed, so files were taken unfiltered.";

export async function snapshotOf(checkout: Checkout, git: Git, signal?: AbortSignal): Promise<Snapshot> {
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-index-"));
	try {
		const index = join(dir, "index");
		const options = { cwd: checkout.root, gitDir: checkout.gitDir, index, signal };
		if (!(await copied(join(checkout.gitDir, "index"), index))) await git(["read-tree", "HEAD"], options);
		else if (checkout.isWhole) await showHidden(git, options);
		await checkFilters(git, { ...options, main: checkout.main, allowed: checkout.allowed, isOnDisk: true });
		const { problems, config } = await addAll(checkout, git, options);
		const tree = await git(["write-tree"], { ...options, config });
		return { tree, problems, isWhole: !problems.some((problem) => problem !== FILTERS_FAILED) };
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}

type OwnIndex = GitOptions & { gitDir: string; index: string };

/** Makes git check all files again, except those that a sparse checkout leaves out. */
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

/** Returns what had to be done differently, and with which settings. */
async function addAll(
	{ root, ignores, isWhole = false }: Checkout,
	git: Git,
	options: OwnIndex,
): Promise<{ problems: string[]; config?: Record<string, string> }> {
	const inside = relative(root, ignores);
	const isInside = inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
	const links = await linksIn(git, options);
	const left = [...(isInside ? [inside] : []), ...links];
	const input = [".", ...left.map((path) => `:(exclude,literal)${path}`)].join("\0");
	const sparse = (await isSparse(git, options)) ? ["--sparse"] : [];
	const add = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", ...sparse];
	const problems = await takeLinks(links, { isWhole }, git, options);
	try {
		await git(add, { ...options, input });
		return { problems };
	} catch (error) {
		if (!(error instanceof GitError) || isHopeless(error)) throw error;
	}
	const config = await withoutFilters(git, options);
	try {
		await git(add, { ...options, config, input });
		return { problems: [...problems, FILTERS_FAILED], config };
	} catch (error) {
		if (!(error instanceof GitError) || isHopeless(error)) throw error;
		await tryGit(git, [...add, "--ignore-errors"], { ...options, config, input });
		return { problems: [...problems, `Some files could not be taken: ${error.message}`], config };
	}
}

/** Nested repositories, such as submodules: the index holds their commits. */
async function linksIn(git: Git, options: GitOptions): Promise<string[]> {
	const listed = (await git(["ls-files", "--stage", "-z"], options)).split("\0");
	return listed.flatMap((line) => {
		const path = /^160000 \S+ \d\t(.*)$/s.exec(line)?.[1];
		return path === undefined ? [] : [path];
	});
}

/** Records their current commits. `git add` would run git inside each, with settings that an agent may have written. */
async function takeLinks(
	links: readonly string[],
	{ isWhole }: { isWhole: boolean },
	git: Git,
	options: OwnIndex,
): Promise<string[]> {
	if (links.length === 0) return [];
	const input = links.map((path) => `${path}\0`).join("");
	await git(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], { ...options, input });
	const { cwd } = options;
	const filled = isWhole ? await filledOf(links, cwd) : [];
	if (filled.length === 0) return [];
	return [
		`Git does not store the files of ${filled.map(sanitize).join(", ")} in ${cwd}; only that directory has them.`,
	];
}

/** Those that are not empty: git does not report that without running inside them. */
export async function filledLinks(git: Git, options: GitOptions): Promise<string[]> {
	return filledOf(await linksIn(git, options), options.cwd);
}

async function filledOf(links: readonly string[], root: string): Promise<string[]> {
	const held = await Promise.all(links.map((path) => readdir(join(root, path)).catch(() => []))); // not a directory, or gone
	return links.filter((_, at) => held[at]?.length);
}

/** A second attempt would fail, too. */
function isHopeless({ isMissing, stderr }: GitError): boolean {
	return isMissing || /no space left|disk quota|file too large|read-only file system|unable to write/i.test(stderr);
}

/** Settings that disable all filters of the repository. */
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

/** Settings that keep large files as pointers: fetching them could take hours and needs the network. */
export const WITHOUT_LFS: Readonly<Record<string, string>> = Object.fromEntries(filterOff("lfs"));

function filterOff(name: string): [string, string][] {
	return [
		[`filter.${name}.clean`, ""],
		[`filter.${name}.smudge`, ""],
		[`filter.${name}.process`, ""],
		[`filter.${name}.required`, "false"],
	];
}

/** Creates a commit of this tree, on no branch. */
export async function commitTree(
	options: { cwd: string; gitDir?: string | undefined; signal?: AbortSignal | undefined },
	{ tree, parents, message }: { tree: string; parents: readonly string[]; message: string },
	git: Git,
): Promise<string> {
	const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
	return git(args, { ...options, config: await someone(git, options), input: message });
}

/** The committer: the user, or pi-subagents if git does not know them. */
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
		// A file written at the same time as the index may have changed since: git compares it with the index's age.
		const writtenAt = Math.floor(mtimeMs / 1_000);
		await utimes(to, writtenAt, writtenAt);
		return true;
	} catch (error) {
		if (codeOf(error) === "ENOENT") return false;
		throw error;
	}
}
