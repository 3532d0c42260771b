/** Makes the checkout that an agent has for itself, on a branch of its own, or opens the one it had before. */
import type { Stats } from "node:fs";
import { lstat, mkdir, realpath, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { bestEffort, messageOf } from "../best-effort.ts";
import { AgentError } from "../error.ts";
import { codeOf } from "../process/code-of.ts";
import { ownIdentity } from "../process/identity.ts";
import { isWithin } from "../process/within.ts";
import { flagsFile } from "./flags.ts";
import { type Git, GitError, gitWith, tryGit } from "./git.ts";
import { claimPlace, forgetPlace, type Place, readPlaces, writePlace } from "./place.ts";
import { removeCheckout } from "./remove.ts";
import { findRepository, type Repository } from "./repository.ts";
import { commitTree, snapshotOf, WITHOUT_LFS, withoutFilters } from "./snapshot.ts";

export interface OpenOptions {
	/** Where the agent was to work: a directory in some checkout of a repository. */
	cwd: string;
	/** Holds the checkouts of all agents. */
	dir: string;
	/** The agent's id, and which of its runs this is: a later one goes on where the one before ended. */
	id: string;
	run: number;
	/** `dirty`: what lies in the checkout, whether it is committed or not. */
	base: "head" | "dirty";
	/** Who it is for, in words. */
	about: { type: string; description: string; task: string };
	/** Where the user is: a command that they paste works there. */
	sessionCwd?: string | undefined;
	/** The directory of the run's files, for a run that may outlive this process. */
	runDir?: string | undefined;
	now?: number;
	signal?: AbortSignal | undefined;
	git?: Git;
}

/** A name of a directory and of a branch. */
const NAME = /^\w[\w-]{0,63}$/;

/** More of the task would not help anybody to know what it was. */
const TASK_CHARACTERS = 1_000;

/** Rejects with an `AgentError` where there can be none. Nothing is left behind by one that could not be made. */
export async function openWorktree(given: OpenOptions): Promise<Place> {
	const { cwd, id, run, git = gitWith(), signal } = given;
	if (!NAME.test(id)) throw new AgentError("no_worktree", `"${id}" cannot be the name of a branch.`);
	const repository = await findRepository(cwd, git, signal);
	await mkdir(given.dir, { recursive: true, mode: 0o700 });
	const options = { ...given, dir: await realpath(given.dir) };
	const before = run > 1 ? await lastPlace(options.dir, id, repository) : undefined;
	const again = before && (await openAgain(before, options, git));
	if (again && "place" in again) return again.place;
	const { commit, ...begins } = again ?? (await baseOf(options, repository, git));
	const place = await claim(options, repository, begins, git);
	// Without the signal: git that is killed in the wrong moment leaves a lock in the user's repository.
	const begin = () => git(["update-ref", `refs/heads/${place.branch}`, commit, ""], { cwd: place.main });
	return make(place, { git, signal, begin }, async () => {
		await tryGit(git, ["update-ref", "-d", `refs/heads/${place.branch}`, commit], { cwd: place.main });
		await forgetPlace(place);
	});
}

/** `onFailure` takes back what was done before. */
async function make(
	place: Place,
	{ git, signal, begin }: { git: Git; signal: AbortSignal | undefined; begin?: () => Promise<unknown> },
	onFailure: () => Promise<void>,
): Promise<Place> {
	try {
		await begin?.();
		await git(["worktree", "add", "--no-checkout", place.root, place.branch], { cwd: place.main, signal });
		const gitDir = await git(["rev-parse", "--absolute-git-dir"], { cwd: place.root, signal });
		const made = { ...place, gitDir, notes: await fill({ ...place, gitDir }, git, signal) };
		await mkdir(made.cwd, { recursive: true }); // git keeps no empty directories, and the user may be in one
		await writePlace(made);
		return made;
	} catch (error) {
		const ignore = () => undefined; // the reason why it could not be made is what counts
		await bestEffort("removing a worktree", ignore, () => removeCheckout(place, git));
		await bestEffort("taking back a worktree", ignore, onFailure);
		if (signal?.aborted) throw error;
		throw new AgentError("no_worktree", `The agent's worktree could not be made: ${messageOf(error)}`);
	}
}

/** Writes the files. Returns what should be known about them. */
async function fill(place: Place & { gitDir: string }, git: Git, signal: AbortSignal | undefined): Promise<string[]> {
	const options = { cwd: place.root, gitDir: place.gitDir, signal };
	const reset = ["reset", "--hard", "--quiet", "--no-recurse-submodules"];
	const notes: string[] = [];
	try {
		await git(reset, { ...options, config: WITHOUT_LFS });
	} catch (error) {
		if (!(error instanceof GitError) || error.isMissing) throw error;
		await git(reset, { ...options, config: await withoutFilters(git, options) });
		notes.push("A filter of the repository failed, so some files may lie here as git stores them.");
	}
	if (await exists(join(place.root, ".gitmodules"))) notes.push("Submodules are not checked out here.");
	const attributes = await tryGit(
		git,
		["grep", "-l", "--cached", "filter=lfs", "--", ":(glob)**/.gitattributes"],
		options,
	);
	if (attributes) notes.push("Large files (git-lfs) are pointers here, not their content.");
	return notes;
}

async function baseOf({ base, dir, signal }: OpenOptions, { main, head }: Repository, git: Git) {
	if (base === "head") return { commit: head, base: head, isSnapshot: false };
	const gitDir = await git(["rev-parse", "--absolute-git-dir"], { cwd: main, signal });
	try {
		const { tree } = await snapshotOf({ root: main, gitDir, ignores: dir }, git, signal);
		if (tree === (await git(["rev-parse", `${head}^{tree}`], { cwd: main, signal })))
			return { commit: head, base: head, isSnapshot: false };
		const message = "What was not committed when the agent began\n\nMade by pi-subagents; no part of your history.\n";
		const commit = await commitTree({ cwd: main, signal }, { tree, parents: [head], message }, git);
		return { commit, base: commit, isSnapshot: true };
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new AgentError(
			"no_worktree",
			`What is not committed in ${main} could not be taken over: ${messageOf(error)}`,
		);
	}
}

/** Takes the first name that nobody has: neither a directory, nor a branch, nor a note of either. */
async function claim(
	options: OpenOptions,
	{ main, commonDir }: Repository,
	begins: Pick<Place, "base" | "isSnapshot">,
	git: Git,
): Promise<Place> {
	const { cwd, dir, id, run, about, sessionCwd, runDir, now = Date.now() } = options;
	const owner = await ownIdentity();
	const inside = relative(main, await realpath(cwd));
	const isElsewhere = sessionCwd === undefined || !isWithin(await realpath(sessionCwd), main);
	// A branch of this very name would be in the way of all that begin with it.
	const isTaken = await tryGit(git, ["rev-parse", "--verify", "--quiet", "refs/heads/pi-subagents"], { cwd: main });
	const prefix = isTaken === undefined ? "pi-subagents/" : "pi-subagents-";
	for (let count = 1; ; count++) {
		const name = count === 1 ? id : `${id}-${count}`;
		const root = join(dir, name);
		const branch = `${prefix}${name}`;
		const isKnown = await tryGit(git, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], { cwd: main });
		if (isKnown !== undefined || (await exists(root))) continue;
		const place: Place = {
			format: 1,
			name,
			agentId: id,
			run,
			type: about.type,
			description: about.description,
			task: about.task.slice(0, TASK_CHARACTERS),
			main,
			commonDir,
			root,
			cwd: join(root, inside),
			branch,
			...begins,
			isElsewhere,
			createdAt: now,
			owner,
			...(runDir === undefined ? {} : { runDir }),
			notes: [],
		};
		if (await claimPlace(place)) return place;
	}
}

async function lastPlace(dir: string, id: string, { commonDir }: Repository): Promise<Place | undefined> {
	const places = await readPlaces(dir);
	return places.findLast((place) => place.agentId === id && place.commonDir === commonDir);
}

/**
 * The checkout that the agent had before: still there, or made anew of its branch. Where somebody else has that branch
 * checked out, the agent begins a new one with what it holds. Nothing, where it is gone.
 */
async function openAgain(
	before: Place,
	{ run, about, signal, runDir }: OpenOptions,
	git: Git,
): Promise<{ place: Place } | { commit: string; base: string; isSnapshot: boolean } | undefined> {
	const { report: closed, failure: _failure, runDir: _before, gitDir, ...rest } = before;
	const again: Place = {
		...rest,
		run,
		...about,
		task: about.task.slice(0, TASK_CHARACTERS),
		owner: await ownIdentity(),
		...(runDir === undefined ? {} : { runDir }),
	};
	const tip = await tryGit(git, ["rev-parse", "--verify", "--quiet", `refs/heads/${before.branch}`], {
		cwd: before.main,
	});
	const anew = tip === undefined ? undefined : { commit: tip, base: before.base, isSnapshot: before.isSnapshot };
	// What is left of one that was to be removed must not be taken for what the agent wants to keep.
	if (closed && closed.path === undefined && (await exists(before.root))) await removeCheckout(before, git);
	if (await exists(before.root)) {
		// Without the repository's side of it, what lies there is for the user to look at.
		if (gitDir === undefined || !(await exists(gitDir)) || !(await isCheckout(before.root))) return anew;
		const place = { ...again, gitDir };
		await mkdir(place.cwd, { recursive: true });
		await startAgain(place);
		return { place };
	}
	if (!anew) return undefined;
	const used = await git(["worktree", "list", "--porcelain"], { cwd: before.main, signal });
	if (used.split("\n").includes(`branch refs/heads/${before.branch}`)) return anew;
	await startAgain(again);
	const undo = () => writePlace(before);
	return { place: await make(again, { git, signal }, undo) };
}

/** What was noted of the run before is told. */
async function startAgain(place: Place): Promise<void> {
	await rm(flagsFile(place.root), { force: true });
	await writePlace(place);
}

/** Rejects where that cannot be found out: what may be there must not count as gone. */
export async function exists(path: string): Promise<boolean> {
	return (await lookAt(path)) !== undefined;
}

/** Whether the top of a checkout is where it was made. A link that somebody put there may lead to anybody's files. */
export async function isCheckout(root: string): Promise<boolean> {
	return (await lookAt(root))?.isDirectory() ?? false;
}

async function lookAt(path: string): Promise<Stats | undefined> {
	try {
		return await lstat(path);
	} catch (error) {
		if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
		throw error;
	}
}
