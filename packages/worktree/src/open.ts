/** Creates an agent's own checkout on its own branch, or reopens its previous one. */
import { mkdir, realpath, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { AgentError, systemClock } from "@pi-subagents/core";
import { bestEffort, defined, messageOf } from "@pi-subagents/core/internal/base";
import { isWithin } from "@pi-subagents/core/internal/files";
import type { WorktreeSetup } from "@pi-subagents/core/internal/run";
import { ownIdentity } from "@pi-subagents/core/internal/signals";
import { flagsFile } from "./checkout-state.ts";
import { allowing, type Git, GitError, type GitOptions, gitWith, objectOf, tryGit } from "./git.ts";
import { type Allowed, type Allows, LIST_SETTINGS, NeedsOwnSettings } from "./own-config.ts";
import { placeFor, removeCheckout } from "./place.ts";
import { lookAt, prepareCheckout } from "./prepare.ts";
import { checkTree, findRepository, gitDirOf, type Repository } from "./repository.ts";
import { commitTree, isTreeOf, snapshotOf, WITHOUT_LFS, withoutFilters } from "./snapshot.ts";
import {
	claimWorktree,
	deleteWorktreeRecord,
	readWorktreeRecords,
	type WorktreeRecord,
	writeWorktreeRecord,
} from "./worktree-record.ts";

export interface OpenOptions {
	/** Where the agent was to work: a directory in a checkout of a repository. */
	cwd: string;
	/** Holds the records of all checkouts, and those that have no other place. */
	dir: string;
	/** The agent's id and run: a later run continues where the previous one ended. */
	id: string;
	run: number;
	/** `dirty`: the working tree, committed or not. */
	base: "head" | "dirty";
	/** For people. */
	about: { type: string; description: string; task: string };
	/** The user's directory, so that a pasted command works there. */
	sessionCwd?: string | undefined;
	/** The directory of the run's files, if the run may outlive this process. */
	runDir?: string | undefined;
	/** Which of the repository's own settings git may use. Default: none. */
	allows?: Allows | undefined;
	/** The user's own checkout, if the one that is copied is an agent's. Default: the one that is copied. */
	originOf?: ((main: string) => string) | undefined;
	/** Where it is, and what makes it ready to work in. Absent: nothing. */
	setup?: WorktreeSetup | undefined;
	now?: number;
	signal?: AbortSignal | undefined;
	git?: Git;
}

/** Valid as a directory and a branch name. */
const NAME = /^\w[\w-]{0,63}$/;

/** Enough of the task to recognize it. */
const TASK_CHARACTERS = 1_000;

/** Rejects with an `AgentError` if there can be none. A failed one leaves nothing behind. */
export async function openWorktree(given: OpenOptions): Promise<WorktreeRecord> {
	const { cwd, id, run, git: anyGit = gitWith(), allows = () => [], signal } = given;
	if (!NAME.test(id)) throw new AgentError("no_worktree", `"${id}" cannot be the name of a branch.`);
	const repository = await findRepository(cwd, anyGit, signal);
	const allowed = allows(repository.main);
	const git = allowing(anyGit, allowed);
	await mkdir(given.dir, { recursive: true, mode: 0o700 });
	const options = { ...given, dir: await realpath(given.dir), allowed };
	const before = run > 1 ? await lastRecord(options.dir, id, repository) : undefined;
	const again = before && (await openAgain(before, options, git));
	if (again && "record" in again) return again.record;
	const { originOf = (main) => main, setup } = given;
	const where = { chosen: setup?.dir, records: options.dir, origin: originOf(repository.main), repository };
	const place = await placeFor({ ...where, git, signal });
	const { commit, ...begins } = again ?? (await baseOf(options, repository, git));
	const record = await claim(options, place, repository, begins, git);
	// Without the signal: a killed git could leave a lock in the user's repository.
	const begin = () => git(["update-ref", `refs/heads/${record.branch}`, commit, ""], { cwd: record.main });
	return make(record, { git, signal, begin, setup }, async () => {
		await tryGit(git, ["update-ref", "-d", `refs/heads/${record.branch}`, commit], { cwd: record.main });
		await deleteWorktreeRecord(record);
	});
}

interface Making extends Pick<OpenOptions, "signal" | "setup"> {
	git: Git;
	/** Creates the branch. */
	begin?: () => Promise<unknown>;
}

/** `onFailure` undoes what was done before. */
async function make(
	record: WorktreeRecord,
	{ git, signal, begin, setup }: Making,
	onFailure: () => Promise<void>,
): Promise<WorktreeRecord> {
	try {
		// Not in one call: a second attempt of git, after another process was in the way, would find its own branch.
		await begin?.();
		await git(["worktree", "add", "--no-checkout", record.root, record.branch], { cwd: record.main, signal });
		const gitDir = await gitDirOf(record.root);
		if (gitDir === undefined) throw new Error(`git did not say in ${record.root} where its repository is`);
		const made = { ...record, gitDir, notes: await fill({ ...record, gitDir }, git, signal) };
		await mkdir(made.cwd, { recursive: true }); // git stores no empty directories, and the user may be in one
		await writeWorktreeRecord(setup ? { ...made, isPreparing: true } : made);
		if (!setup) return made;
		const notes = await prepareCheckout({ ...made, gitDir }, setup, { git, clock: systemClock, signal });
		const ready = { ...made, notes: [...made.notes, ...notes] };
		await writeWorktreeRecord(ready);
		return ready;
	} catch (error) {
		const ignore = () => undefined; // the original error counts
		await bestEffort("removing a worktree", ignore, () => removeCheckout(record, git));
		await bestEffort("taking back a worktree", ignore, onFailure);
		if (signal?.aborted || error instanceof NeedsOwnSettings || error instanceof AgentError) throw error;
		throw new AgentError("no_worktree", `The agent's worktree could not be created: ${messageOf(error)}`);
	}
}

/** Writes the files. Returns notes about them. */
async function fill(
	record: WorktreeRecord & { gitDir: string },
	git: Git,
	signal: AbortSignal | undefined,
): Promise<string[]> {
	const options = { cwd: record.root, gitDir: record.gitDir, signal };
	await checkTree(git, { ...options, main: record.main, allowed: record.allows ?? [], tree: "HEAD^{tree}" });
	const asked = ["grep", "-l", "filter=lfs", "HEAD", "--", ":(glob)**/.gitattributes"];
	const attributes = tryGit(git, asked, options);
	// Handled from the start: a rejection that waits for the checkout to end would end pi.
	const over = attributes.catch(() => undefined);
	const notes = await checkOut(git, options).finally(() => over); // none goes on alone
	if (await exists(join(record.root, ".gitmodules"))) notes.push("Submodules are not checked out here.");
	if (await attributes) notes.push("Large files (git-lfs) are pointers here, not their content.");
	return notes;
}

async function checkOut(git: Git, options: GitOptions & { gitDir: string }): Promise<string[]> {
	const reset = ["reset", "--hard", "--quiet", "--no-recurse-submodules"];
	try {
		await git(reset, { ...options, config: WITHOUT_LFS });
		return [];
	} catch (error) {
		if (!(error instanceof GitError) || error.isMissing) throw error;
		await git(reset, { ...options, config: await withoutFilters(git, options) });
		return ["A filter of the repository failed, so some files may be unfiltered here."];
	}
}

/** With the allowed settings of the repository. */
type Opening = OpenOptions & { allowed: Allowed };

/** The commit that a checkout begins with: the last one, or a new one of the current files, which no branch holds. */
export async function baseOf(
	{ base, dir, signal, allowed }: Pick<Opening, "base" | "dir" | "signal" | "allowed">,
	{ main, head }: Pick<Repository, "main" | "head">,
	git: Git,
) {
	if (base === "head") return { commit: head, base: head, isSnapshot: false };
	const gitDir = await git(["rev-parse", "--absolute-git-dir"], { cwd: main, signal });
	try {
		const { tree } = await snapshotOf({ root: main, main, gitDir, ignores: dir, allowed }, git, signal);
		if (await isTreeOf(head, tree, git, { cwd: main, signal })) return { commit: head, base: head, isSnapshot: false };
		const message = "Uncommitted work when the agent started\n\nCreated by pi-subagents; not part of your history.\n";
		const commit = await commitTree({ cwd: main, signal }, { tree, parents: [head], message }, git);
		return { commit, base: commit, isSnapshot: true };
	} catch (error) {
		if (signal?.aborted || error instanceof NeedsOwnSettings) throw error;
		throw new AgentError("no_worktree", `Uncommitted changes in ${main} could not be included: ${messageOf(error)}`);
	}
}

/** Takes the first unused name: no directory, branch or record has it. */
async function claim(
	options: Opening,
	place: string,
	{ main, commonDir }: Repository,
	begins: Pick<WorktreeRecord, "base" | "isSnapshot">,
	git: Git,
): Promise<WorktreeRecord> {
	const { cwd, dir, id, run, about, sessionCwd, runDir, allowed, now = Date.now() } = options;
	// A branch `pi-subagents` would conflict with all below that name.
	const [owner, names] = await Promise.all([
		ownIdentity(),
		git(["rev-parse", "--symbolic", "--branches=pi-subagents*"], { cwd: main }),
		git(LIST_SETTINGS, { cwd: main }), // remembered for what follows
	]);
	const taken = new Set(names.split("\n"));
	const prefix = taken.has("pi-subagents") ? "pi-subagents-" : "pi-subagents/";
	const inside = relative(main, await realpath(cwd));
	const isElsewhere = sessionCwd === undefined || !isWithin(await realpath(sessionCwd), main);
	for (let count = 1; ; count++) {
		const name = count === 1 ? id : `${id}-${count}`;
		const root = join(place, name);
		const branch = `${prefix}${name}`;
		if (taken.has(branch) || (await exists(root))) continue;
		const record: WorktreeRecord = {
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
			...(place === dir ? {} : { records: dir }),
			cwd: join(root, inside),
			branch,
			...begins,
			isElsewhere,
			createdAt: now,
			owner,
			...defined({ runDir }),
			allows: allowed,
			notes: [],
		};
		if (await claimWorktree(record)) return record;
	}
}

async function lastRecord(dir: string, id: string, { commonDir }: Repository): Promise<WorktreeRecord | undefined> {
	const records = await readWorktreeRecords(dir);
	return records.findLast((record) => record.agentId === id && record.commonDir === commonDir);
}

/**
 * The agent's previous checkout: still there, or recreated from its branch. If that branch is checked out elsewhere,
 * the agent starts a new one from it. Undefined if it is gone.
 */
async function openAgain(
	before: WorktreeRecord,
	{ run, about, signal, runDir, allowed, setup }: Opening,
	git: Git,
): Promise<{ record: WorktreeRecord } | { commit: string; base: string; isSnapshot: boolean } | undefined> {
	const { report: closed, failure: _failure, runDir: _before, isPreparing, gitDir, ...rest } = before;
	const again: WorktreeRecord = {
		...rest,
		run,
		...about,
		task: about.task.slice(0, TASK_CHARACTERS),
		owner: await ownIdentity(),
		...defined({ runDir }),
		allows: allowed,
	};
	const tip = await objectOf(git, `refs/heads/${before.branch}`, { cwd: before.main });
	const fresh = tip === undefined ? undefined : { commit: tip, base: before.base, isSnapshot: before.isSnapshot };
	// Remains of an interrupted removal or set-up must not be taken for the agent's work.
	const isRest = isPreparing || (closed && closed.path === undefined);
	if (isRest && (await exists(before.root))) await removeCheckout(before, git);
	if (await exists(before.root)) {
		// Without its git directory, the content is for the user to look at.
		if (gitDir === undefined || !(await exists(gitDir)) || !(await isCheckout(before.root))) return fresh;
		const record = { ...again, gitDir };
		await mkdir(record.cwd, { recursive: true });
		await startAgain(record);
		return { record };
	}
	if (!fresh) return undefined;
	const used = await git(["worktree", "list", "--porcelain"], { cwd: before.main, signal });
	if (used.split("\n").includes(`branch refs/heads/${before.branch}`)) return fresh;
	await startAgain(again);
	const undo = () => writeWorktreeRecord(before);
	return { record: await make(again, { git, signal, setup }, undo) };
}

/** The previous run's notes were reported. */
async function startAgain(record: WorktreeRecord): Promise<void> {
	await rm(flagsFile(record), { force: true });
	await writeWorktreeRecord(record);
}

/** Rejects if that is unknown: what may exist must not count as gone. */
export async function exists(path: string): Promise<boolean> {
	return (await lookAt(path)) !== undefined;
}

/** Whether the checkout is still a directory. A link put there may lead to any files. */
export async function isCheckout(root: string): Promise<boolean> {
	return (await lookAt(root))?.isDirectory() ?? false;
}
