/** The checkouts and branches that agents have left: which there are, what they hold, and how to take it over or throw it away. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bestEffort } from "../best-effort.ts";
import { AgentError } from "../error.ts";
import { isAlive } from "../process/identity.ts";
import { RUN_FILES } from "../process/layout.ts";
import { readWrapper } from "../process/read.ts";
import { type Git, GitError, gitWith, tryGit } from "./git.ts";
import { exists, isCheckout } from "./open.ts";
import { forgetPlace, type Place, readPlace, readPlaces } from "./place.ts";
import { removeCheckout } from "./remove.ts";
import { commitTree, snapshotOf } from "./snapshot.ts";

export interface KeptWorktree {
	place: Place;
	/** `left`: its agent has ended without closing it. `kept`: it was closed, and its branch holds what the agent did. */
	state: "in use" | "left" | "kept";
	/** Whether there is anything that the checkout which it was made from does not have. */
	isChanged: boolean;
}

/** What is known of one without changes may be asked for again by a run that is being rejoined. */
const FORGOTTEN_MS = 24 * 60 * 60_000;

/**
 * Newest last. What is gone, because somebody merged or deleted it, is forgotten.
 *
 * @example
 * ```ts
 * const left = (await listWorktrees({ dir })).filter(({ state }) => state === "left");
 * ```
 */
export async function listWorktrees(options: { dir: string; git?: Git; now?: number }): Promise<KeptWorktree[]> {
	const { dir, git = gitWith(), now = Date.now() } = options;
	const listed: KeptWorktree[] = [];
	for (const place of await readPlaces(dir)) {
		await removeRest(place, git);
		const state = await stateOf(place, git);
		if (state === "gone") {
			if (now - place.createdAt > FORGOTTEN_MS && !(await exists(place.root))) await forgetPlace(place);
		} else listed.push({ place, state, isChanged: state === "kept" || (await isChanged(place, git)) });
	}
	return listed;
}

/** A directory that was to be removed, by somebody who was killed before it was gone. */
async function removeRest(place: Place, git: Git): Promise<void> {
	const { report, root } = place;
	if (!report || report.path !== undefined || !(await exists(root)) || (await isInUse(place))) return;
	if (!(await readPlace(root))?.report) return; // it has just been opened again
	const ignore = () => undefined; // the next look tries again
	await bestEffort("removing what is left of a worktree", ignore, () => removeCheckout(place, git));
}

async function stateOf(place: Place, git: Git): Promise<KeptWorktree["state"] | "gone"> {
	const { report, failure, root } = place;
	const hasDirectory = await exists(root);
	if (!report && failure === undefined && (await isInUse(place))) return "in use";
	if (!report) return hasDirectory || (await tipOf(place, place.branch, git)) !== undefined ? "left" : "gone";
	if (report.path !== undefined && hasDirectory) return "kept";
	return report.branch !== undefined && (await tipOf(place, report.branch, git)) !== undefined ? "kept" : "gone";
}

/** By the process that launched the agent, or by the one that goes on with it. */
async function isInUse({ owner, runDir }: Place): Promise<boolean> {
	const wrapper = runDir === undefined ? undefined : await readWrapper(runDir).catch(() => undefined);
	if (wrapper?.type === "started" && runDir !== undefined && (await isAlive(wrapper)))
		return !(await exists(join(runDir, RUN_FILES.result)));
	return isAlive(owner);
}

async function isChanged(place: Place, git: Git): Promise<boolean> {
	const { root, gitDir, base } = place;
	if (gitDir === undefined || !(await isCheckout(root))) return (await tipOf(place, place.branch, git)) !== base;
	const here = { cwd: root, gitDir };
	const status = await tryGit(git, ["status", "--porcelain", "--untracked-files=normal"], here);
	const head = await tryGit(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], here);
	return status !== "" || head !== base; // also when git cannot say: then nobody must think that it is empty
}

function tipOf({ main }: Place, branch: string, git: Git): Promise<string | undefined> {
	return tryGit(git, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`], { cwd: main });
}

/** More cannot be read by anybody. */
const DIFF_CHARACTERS = 200_000;

/** What it changed, as git shows it: first how much, then what. */
export async function diffWorktree(place: Place, git: Git = gitWith()): Promise<string> {
	const { main, base } = place;
	const diff = await git(["diff", "--no-ext-diff", "--no-color", "--stat", "--patch", base, await treeOf(place, git)], {
		cwd: main,
	});
	const beyond = diff.length - DIFF_CHARACTERS;
	return beyond > 0 ? `${diff.slice(0, DIFF_CHARACTERS)}\n… ${beyond} more characters` : diff;
}

export interface Applied {
	/** The files that differ afterwards, or would. */
	files: string[];
	/** The files that both sides have changed in a way that only a person can join. Nothing is changed if there are any. */
	conflicts: string[];
}

/**
 * Joins what the agent changed with what lies in the checkout that it began from, committed or not. The changes are then
 * there as if the user had made them: nothing is committed or staged. `isDryRun` only says how it would go.
 */
export async function applyWorktree(place: Place, options: { isDryRun?: boolean; git?: Git } = {}): Promise<Applied> {
	const { isDryRun = false, git = gitWith() } = options;
	const { main, base, root } = place;
	const here = { cwd: main };
	const gitDir = await git(["rev-parse", "--absolute-git-dir"], here);
	const ours = await snapshotOf({ root: main, gitDir, ignores: dirname(root) }, git);
	const theirs = await treeOf(place, git);
	const joined = await join3(
		main,
		{ base: await git(["rev-parse", `${base}^{tree}`], here), ours: ours.tree, theirs },
		git,
	);
	if (joined.conflicts.length > 0) return { files: [], conflicts: joined.conflicts };
	const names = await git(["diff", "--name-only", "-z", "--no-renames", ours.tree, joined.tree], here);
	const files = names.split("\0").filter((name) => name !== "");
	if (files.length === 0) return { files, conflicts: [] };
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-patch-"));
	try {
		const patch = join(dir, "patch");
		await git(
			[
				"diff",
				"--binary",
				"--full-index",
				"--no-renames",
				"--no-ext-diff",
				`--output=${patch}`,
				ours.tree,
				joined.tree,
			],
			here,
		);
		const apply = ["apply", "--whitespace=nowarn"];
		const conflicts = await inTheWay([...apply, "--check", patch], main, git);
		if (conflicts.length === 0 && !isDryRun) await git([...apply, patch], here);
		return { files: conflicts.length > 0 ? [] : files, conflicts };
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}

/** Files that git does not know can be in the way, too. */
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

/** A merge of three trees, in the store of objects alone: commits that belong to nobody say what is based on what. */
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
				`The changes could not be joined (that needs git 2.38 or newer): ${error.message}`,
			);
		const [, ...conflicts] = error.stdout.split("\0");
		return { tree: "", conflicts: [...new Set(conflicts.filter((name) => name !== ""))] };
	}
}

/** All that it holds, whether it was closed or not. */
async function treeOf(place: Place, git: Git): Promise<string> {
	const { report, root, gitDir, main, branch } = place;
	if (!report && gitDir !== undefined && (await isCheckout(root)))
		return (await snapshotOf({ root, gitDir, ignores: dirname(root) }, git)).tree;
	const holder = report?.branch ?? branch;
	const tree = await tryGit(git, ["rev-parse", "--verify", "--quiet", `refs/heads/${holder}^{tree}`], { cwd: main });
	if (tree === undefined) throw new AgentError("wrong_state", `The branch ${holder} is gone.`);
	return tree;
}

/** Its directory and its branch are gone afterwards, with all that only they held. A branch that the agent made itself stays. */
export async function discardWorktree(place: Place, git: Git = gitWith()): Promise<void> {
	const { main, branch, root, report } = place;
	if (await exists(root)) await removeCheckout(place, git);
	const second = report?.branch?.startsWith(`${branch}-`) && /-\d+$/.test(report.branch) ? [report.branch] : [];
	for (const name of new Set([branch, ...second])) {
		if ((await tipOf(place, name, git)) !== undefined) await git(["branch", "-D", "--", name], { cwd: main });
	}
	await forgetPlace(place);
}
