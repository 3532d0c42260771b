/**
 * A checkout's content as a tree and a commit: changed, staged and new files, but no ignored ones. Its index,
 * branches and stash stay as they are.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "@pi-subagents/core/internal/base";
import { copyPlain } from "@pi-subagents/core/internal/files";
import { sanitize } from "@pi-subagents/progress";
import { excluding } from "./checkout-state.ts";
import { type Git, GitError, type GitOptions, tryGit, withTempDir } from "./git.ts";
import { type Allowed, checkFilters, readSettings, settingOf } from "./own-config.ts";

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
	/** As git takes it: its id, or `<commit>^{tree}`. */
	tree: string;
	/** What is missing or different. */
	problems: string[];
	/** Whether it contains everything it should. */
	isWhole: boolean;
}

const FILTERS_FAILED =
	"A filter of the repository (`filter.*` in its configuration) failed, so files were taken unfiltered.";

export function snapshotOf(checkout: Checkout, git: Git, signal?: AbortSignal): Promise<Snapshot> {
	return withTempDir(async (dir) => {
		const index = join(dir, "index");
		const options = { cwd: checkout.root, gitDir: checkout.gitDir, index, signal };
		if (!(await copied(join(checkout.gitDir, "index"), index))) await git(["read-tree", "HEAD"], options);
		await checkFilters(git, { ...options, main: checkout.main, allowed: checkout.allowed, isOnDisk: true });
		const [entries, unchanged, isSparse] = await Promise.all([
			entriesOf(git, options),
			unchangedCommit(checkout, git, options),
			isSparseCheckout(git, options),
		]);
		const links = pathsOf(entries, LINK);
		const assumed = checkout.isWhole ? pathsOf(entries, /^[a-z]/) : [];
		// Except what a sparse checkout leaves out.
		const skipped = checkout.isWhole ? pathsOf(entries, isSparse ? /^s/ : /^[Ss]/) : [];
		if (unchanged !== undefined && !isSparse && [...links, ...assumed, ...skipped].length === 0)
			return { tree: `${unchanged}^{tree}`, problems: [], isWhole: true };
		await tell("--no-assume-unchanged", assumed, git, options);
		await tell("--no-skip-worktree", skipped, git, options);
		const { problems, config } = await addAll(checkout, { links, isSparse }, git, options);
		const tree = await git(["write-tree"], { ...options, config });
		return { tree, problems, isWhole: !problems.some((problem) => problem !== FILTERS_FAILED) };
	});
}

type OwnIndex = GitOptions & { gitDir: string; index: string };

async function tell(option: string, paths: readonly string[], git: Git, options: OwnIndex): Promise<void> {
	const input = paths.map((path) => `${path}\0`).join("");
	if (input !== "") await git(["update-index", option, "-z", "--stdin"], { ...options, input });
}

/** The commit that is checked out, if git sees no change. What it was told not to look at may have changed. */
async function unchangedCommit({ root, ignores }: Checkout, git: Git, options: OwnIndex): Promise<string | undefined> {
	const how = ["--branch", "--no-ahead-behind", "--untracked-files=normal", "--ignore-submodules=dirty"];
	const args = ["status", "--porcelain=v2", "-z", ...how, "--", ...excluding(root, ignores)];
	// A cache of new files is not believed.
	const status = await tryGit(git, args, { ...options, config: { "core.untrackedCache": "false" } });
	const isChanged = status?.split("\0").some((line) => line !== "" && !line.startsWith("# "));
	return isChanged ? undefined : /^# branch\.oid ([0-9a-f]{40,})\0/.exec(status ?? "")?.[1];
}

/** Every file of the index, as git shows it: a mark if changes are ignored, what it is, and its path. */
async function entriesOf(git: Git, options: GitOptions): Promise<string[]> {
	return (await git(["ls-files", "--stage", "-v", "-z"], options)).split("\0");
}

function pathsOf(entries: readonly string[], which: RegExp): string[] {
	return entries.flatMap((entry) => (which.test(entry) ? [entry.slice(entry.indexOf("\t") + 1)] : []));
}

/** Nested repositories, such as submodules: the index holds their commits. */
const LINK = /^. 160000 /;

async function isSparseCheckout(git: Git, options: OwnIndex): Promise<boolean> {
	const name = "core.sparsecheckout";
	if (settingOf(await readSettings(git, options), name) === undefined) return false;
	return (await tryGit(git, ["config", "--type=bool", name], options)) === "true";
}

/** Returns what had to be done differently, and with which settings. */
async function addAll(
	{ root, ignores, isWhole = false }: Checkout,
	{ links, isSparse }: { links: readonly string[]; isSparse: boolean },
	git: Git,
	options: OwnIndex,
): Promise<{ problems: string[]; config?: Record<string, string> }> {
	const left = links.map((path) => `:(exclude,literal)${path}`);
	const input = [".", ...excluding(root, ignores), ...left].join("\0");
	const add = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", ...(isSparse ? ["--sparse"] : [])];
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
	const names = filled.map(sanitize).join(", ");
	return names === "" ? [] : [`Git does not store the files of ${names} in ${cwd}; only that directory has them.`];
}

/** Those that are not empty: git does not report that without running inside them. */
export async function filledLinks(git: Git, options: GitOptions): Promise<string[]> {
	return filledOf(pathsOf(await entriesOf(git, options), LINK), options.cwd);
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
export async function withoutFilters(git: Git, options: GitOptions): Promise<Record<string, string>> {
	const { own, users } = await readSettings(git, options);
	const keys = [...own.map(({ name }) => name), ...users.keys()];
	const names = new Set(["lfs", ...keys.flatMap((key) => /^filter\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? [])]);
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

/** Whether the snapshot is the content of this commit. */
export async function isTreeOf(commit: string, tree: string, git: Git, options: GitOptions): Promise<boolean> {
	const name = `${commit}^{tree}`;
	return tree === name || tree === (await git(["rev-parse", name], options));
}

/** Creates a commit of this tree, on no branch. */
export async function commitTree(
	options: GitOptions,
	{ tree, parents, message }: { tree: string; parents: readonly string[]; message: string },
	git: Git,
): Promise<string> {
	const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
	return git(args, { ...options, config: await someone(git, options), input: message });
}

/** The committer: the user, or pi-subagents if git does not know them. */
async function someone(git: Git, options: GitOptions): Promise<Record<string, string>> {
	const settings = await readSettings(git, options);
	const [name, email] = ["user.name", "user.email"].map((key) => settingOf(settings, key)?.trim());
	return name && email ? {} : { "user.name": name || "pi-subagents", "user.email": email || "pi-subagents@localhost" };
}

/** That of a checkout with a million files has a tenth of this. */
const MAX_INDEX_BYTES = 1024 * 1024 * 1024;

async function copied(from: string, to: string): Promise<boolean> {
	try {
		// A file written at the same time as the index may have changed since: git compares it with the index's age.
		await copyPlain(from, to, { maxBytes: MAX_INDEX_BYTES, followsLinks: true, keepsTime: true });
		return true;
	} catch (error) {
		if (codeOf(error) === "ENOENT") return false;
		throw error;
	}
}
