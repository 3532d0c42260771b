/** The checkouts and branches that agents left: list, diff, apply or discard them. */
import { join } from "node:path";
import { AgentError } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { isAlive } from "@pi-subagents/core/internal/signals";
import { livingWrapper, RUN_FILES } from "@pi-subagents/runs";
import { recordsOf } from "./checkout-state.ts";
import { closeWorktree } from "./close.ts";
import { allowing, type Git, GitError, gitWith, objectOf, tryGit, withTempDir } from "./git.ts";
import { exists, isCheckout } from "./open.ts";
import { removeCheckout, worktreesDir } from "./place.ts";
import { checkTree } from "./repository.ts";
import { commitTree, filledLinks, snapshotOf } from "./snapshot.ts";
import {
	deleteWorktreeRecord,
	readWorktreeRecord,
	readWorktreeRecords,
	type WorktreeRecord,
} from "./worktree-record.ts";

export interface ListedWorktree {
	record: WorktreeRecord;
	/** `left`: its agent ended without closing it. `kept`: it was closed, and its branch holds the changes. */
	state: "in use" | "left" | "kept";
	/** Whether it holds anything that its origin does not. */
	isChanged: boolean;
}

interface ListOptions {
	agentDir: string;
	/** Where the records are; default: `worktreesDir`. */
	dir?: string;
	git?: Git;
	now?: number;
}

/** A run that is being rejoined may still ask for the record of an unchanged one. */
const FORGOTTEN_MS = 24 * 60 * 60_000;

/**
 * Newest last. Records of merged or deleted ones are removed, and so are checkouts that a crash left without any work.
 *
 * @example
 * ```ts
 * const left = (await listWorktrees({ agentDir })).filter(({ state }) => state === "left");
 * ```
 */
export async function listWorktrees(options: ListOptions): Promise<ListedWorktree[]> {
	const { agentDir, dir = worktreesDir(agentDir), git: anyGit = gitWith(), now = Date.now() } = options;
	const listed: ListedWorktree[] = [];
	for (const record of await readWorktreeRecords(dir)) {
		const git = allowing(anyGit, record.allows ?? []);
		const isUsed = () => isInUse(record, agentDir);
		await removeRest(record, git, isUsed);
		const state = await stateOf(record, git, isUsed);
		if (state === "gone") {
			if (now - record.createdAt > FORGOTTEN_MS && !(await exists(record.root))) await deleteWorktreeRecord(record);
			continue;
		}
		const holdsWork = state === "kept" || (await isChanged(record, git));
		const isRest = state === "left" && record.failure === undefined && (record.isPreparing || !holdsWork);
		const isRemoved = isRest && (await removeIdle(record, git).catch(() => false)); // tried again at the next listing
		if (!isRemoved) listed.push({ record, state, isChanged: holdsWork });
	}
	return listed;
}

/** Removes a checkout that a killed process left in its set-up, or unchanged. False if there is something to keep. */
async function removeIdle(record: WorktreeRecord, git: Git): Promise<boolean> {
	const { branch, base, main } = record;
	if (!record.isPreparing) {
		const { branch: kept, path } = await closeWorktree(record, { git });
		return kept === undefined && path === undefined;
	}
	await removeCheckout(record, git);
	// A later run of the agent has earlier work there.
	if ((await tipOf(record, branch, git)) !== base) return false;
	await tryGit(git, ["update-ref", "-d", `refs/heads/${branch}`, base], { cwd: main });
	await deleteWorktreeRecord(record);
	return true;
}

/** Removes a directory whose removal was interrupted. */
async function removeRest(record: WorktreeRecord, git: Git, isUsed: () => Promise<boolean>): Promise<void> {
	const { report, root } = record;
	if (!report || report.path !== undefined || !(await exists(root)) || (await isUsed())) return;
	if (!(await readWorktreeRecord(record))?.report) return; // it was just reopened
	const ignore = () => undefined; // tried again at the next listing
	await bestEffort("removing what is left of a worktree", ignore, () => removeCheckout(record, git));
}

async function stateOf(
	record: WorktreeRecord,
	git: Git,
	isUsed: () => Promise<boolean>,
): Promise<ListedWorktree["state"] | "gone"> {
	const { report, failure, root } = record;
	const hasDirectory = await exists(root);
	if (!report && failure === undefined && (await isUsed())) return "in use";
	if (!report) return hasDirectory || (await tipOf(record, record.branch, git)) !== undefined ? "left" : "gone";
	if (report.path !== undefined && hasDirectory) return "kept";
	return report.branch !== undefined && (await tipOf(record, report.branch, git)) !== undefined ? "kept" : "gone";
}

/** By the process that launched the agent, or by its wrapper. */
async function isInUse({ owner, runDir }: WorktreeRecord, agentDir: string): Promise<boolean> {
	const wrapper = runDir === undefined ? undefined : await livingWrapper({ agentDir, runDir }).catch(() => undefined);
	if (wrapper && runDir !== undefined) return !(await exists(join(runDir, RUN_FILES.result)));
	return isAlive(owner);
}

async function isChanged(record: WorktreeRecord, git: Git): Promise<boolean> {
	const { root, gitDir, base } = record;
	if (gitDir === undefined || !(await isCheckout(root))) return (await tipOf(record, record.branch, git)) !== base;
	const here = { cwd: root, gitDir };
	const how = ["--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
	const status = await tryGit(git, ["status", ...how], here);
	const head = await objectOf(git, "HEAD^{commit}", here);
	if (head === base && status === "") return (await filledLinks(git, here)).length > 0;
	return true; // also if git fails: it must not look empty
}

function tipOf({ main }: WorktreeRecord, branch: string, git: Git): Promise<string | undefined> {
	return objectOf(git, `refs/heads/${branch}^{commit}`, { cwd: main });
}

/** More is unreadable anyway. */
const DIFF_CHARACTERS = 200_000;

/** Its changes as a git diff, with the statistics first. */
export async function diffWorktree(record: WorktreeRecord, anyGit: Git = gitWith()): Promise<string> {
	const { main, base, allows = [] } = record;
	const git = allowing(anyGit, allows);
	const tree = await treeOf(record, git);
	const diff = await git(["diff", "--no-color", "--stat", "--patch", base, tree], { cwd: main });
	const beyond = diff.length - DIFF_CHARACTERS;
	return beyond > 0 ? `${diff.slice(0, DIFF_CHARACTERS)}\n… ${beyond} more characters` : diff;
}

export interface Applied {
	/** The files that change. */
	files: string[];
	/** Files changed on both sides that only a person can merge. If there are any, nothing is changed. */
	conflicts: string[];
}

/**
 * Merges the agent's changes into the checkout it started from, with uncommitted changes. Nothing is committed or
 * staged. `isDryRun` only reports the result.
 */
export async function applyWorktree(
	record: WorktreeRecord,
	options: { isDryRun?: boolean; git?: Git } = {},
): Promise<Applied> {
	const { isDryRun = false } = options;
	const { main, base, allows: allowed = [] } = record;
	const git = allowing(options.git ?? gitWith(), allowed);
	const here = { cwd: main };
	const gitDir = await git(["rev-parse", "--absolute-git-dir"], here);
	const ours = await snapshotOf({ root: main, main, gitDir, ignores: recordsOf(record), allowed }, git);
	const theirs = await treeOf(record, git);
	const joined = await join3(main, { base: `${base}^{tree}`, ours: ours.tree, theirs }, git);
	if (joined.conflicts.length > 0) return { files: [], conflicts: joined.conflicts };
	await checkTree(git, { ...here, main, allowed, tree: joined.tree });
	const names = await git(["diff", "--name-only", "-z", "--no-renames", ours.tree, joined.tree], here);
	const files = names.split("\0").filter((name) => name !== "");
	if (files.length === 0) return { files, conflicts: [] };
	return withTempDir(async (dir) => {
		const patch = join(dir, "patch");
		await git(["diff", "--binary", "--full-index", "--no-renames", `--output=${patch}`, ours.tree, joined.tree], here);
		const apply = ["apply", "--whitespace=nowarn"];
		const conflicts = await inTheWay([...apply, "--check", patch], main, git);
		if (conflicts.length === 0 && !isDryRun) await git([...apply, patch], here);
		return { files: conflicts.length > 0 ? [] : files, conflicts };
	});
}

/** Untracked files can conflict, too. */
async function inTheWay(check: readonly string[], main: string, git: Git): Promise<string[]> {
	try {
		await git(check, { cwd: main });
		return [];
	} catch (error) {
		if (!(error instanceof GitError) || error.isMissing) throw error;
		const named = [...error.stderr.matchAll(/^error: (?:patch failed: )?(.+?)(?::\d+|: [^:]+)$/gm)].flatMap(
			(match) => match[1] ?? [],
		);
		return named.length > 0 ? [...new Set(named)] : [error.message];
	}
}

/** Merges three trees in the object store alone, with unreferenced commits that define the merge base. */
async function join3(
	cwd: string,
	{ base, ours, theirs }: { base: string; ours: string; theirs: string },
	git: Git,
): Promise<{ tree: string; conflicts: string[] }> {
	const commit = (tree: string, parents: string[]) => commitTree({ cwd }, { tree, parents, message: "apply\n" }, git);
	const root = await commit(base, []);
	const sides = [await commit(ours, [root]), await commit(theirs, [root])];
	try {
		const [tree = ""] = (
			await git(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides], { cwd })
		).split("\0");
		return { tree, conflicts: [] };
	} catch (error) {
		if (!(error instanceof GitError) || error.isMissing) throw error;
		if (error.status !== 1)
			throw new AgentError(
				"unsupported",
				`The changes could not be merged (this needs git 2.38 or newer): ${error.message}`,
			);
		const [, ...conflicts] = error.stdout.split("\0");
		return { tree: "", conflicts: [...new Set(conflicts.filter((name) => name !== ""))] };
	}
}

/** Its content, closed or not. */
async function treeOf(record: WorktreeRecord, git: Git): Promise<string> {
	const { report, root, gitDir, main, branch, allows: allowed = [] } = record;
	if (!report && gitDir !== undefined && (await isCheckout(root)))
		return (await snapshotOf({ root, main, gitDir, ignores: recordsOf(record), allowed }, git)).tree;
	const holder = report?.branch ?? branch;
	const tree = await objectOf(git, `refs/heads/${holder}^{tree}`, { cwd: main });
	if (tree === undefined) throw new AgentError("wrong_state", `The branch ${holder} is gone.`);
	return tree;
}

/** Deletes its directory and branch with everything only they held. A branch that the agent created itself stays. */
export async function discardWorktree(record: WorktreeRecord, anyGit: Git = gitWith()): Promise<void> {
	const { main, branch, root, report, allows = [] } = record;
	const git = allowing(anyGit, allows);
	if (await exists(root)) await removeCheckout(record, git);
	const second = report?.branch?.startsWith(`${branch}-`) && /-\d+$/.test(report.branch) ? [report.branch] : [];
	for (const name of new Set([branch, ...second])) {
		if ((await tipOf(record, name, git)) !== undefined) await git(["branch", "-D", "--", name], { cwd: main });
	}
	await deleteWorktreeRecord(record);
}
