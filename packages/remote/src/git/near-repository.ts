/**
 * The repository of this machine on its way to another one, and an agent's commits on their way back. The user's
 * checkout, index, stash and branches stay as they are; the result is the new branch `pi/<run>`.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path, { join, type PlatformPath } from "node:path";
import { AgentError, type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { isObject, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { editSmallFile, isWithin, readPlain } from "@pi-subagents/core/internal/files";
import { identityOf } from "@pi-subagents/core/internal/signals";
import { mergeCommand } from "@pi-subagents/core/outcome-text";
import type { WorktreeReport } from "@pi-subagents/progress";
import {
	type Allows,
	allowedAt,
	allowing,
	baseOf,
	claimWorktree,
	findRepository,
	type Git,
	gitWith,
	readWorktreeRecords,
	statOf,
	tryGit,
	type WorktreeRecord,
	worktreesDir,
} from "@pi-subagents/worktree";
import { type Blobs, Disconnected, type Work } from "../link/link.ts";
import type { SentRepository } from "../link/order.ts";
import { quotable } from "../link/words.ts";

export interface NearRepositoryOptions {
	agentDir: string;
	/** Which of the repository's own settings git may use. */
	allows: Allows;
	/** The user's directory, so that a pasted command works there. */
	sessionCwd?: (() => string | undefined) | undefined;
	git?: Git | undefined;
}

/** What must be known to take the work back, even by another process. */
export interface Sent {
	main: string;
	commonDir: string;
	base: string;
	isSnapshot: boolean;
}

export interface PreparedRepository {
	repository: SentRepository;
	sent: Sent;
	/** Offers the content until the returned function is called. */
	offer(blobs: Blobs): () => void;
}

/** A new base is sent when this many commits came after the old one. */
const MAX_COMMITS = 500;
const MAX_PROBLEM = 1_000;

/** Undefined if the directory is in no repository: then the agent starts with an empty one. */
export async function prepareRepository(
	spec: RunSpec & RunIdentity,
	key: string,
	options: NearRepositoryOptions,
	signal: AbortSignal,
): Promise<PreparedRepository | undefined> {
	const { agentDir, git: anyGit = gitWith(), allows } = options;
	const found = await repositoryAt(spec, anyGit, signal);
	if (!found) return undefined;
	const { main, commonDir, head } = found;
	const allowed = allowedAt(main, spec.confinedTo, allows);
	const git = allowing(anyGit, allowed);
	const earlier = spec.run > 1 ? await earlierWork(spec, commonDir, agentDir, git) : undefined;
	const base = spec.isolation?.base ?? "dirty";
	const dir = worktreesDir(agentDir);
	const begins = earlier ?? (await baseOf({ base, dir, signal, allowed }, { main, head }, git));
	const shared = await sharedBase(agentDir, { main, commonDir, head, commit: begins.commit }, git);
	const repository: SentRepository = {
		commit: begins.commit,
		blob: `work-${begins.commit}`,
		base: { commit: shared, blob: `base-${shared}` },
		inside: insideOf(main, await realpath(spec.cwd)),
	};
	return {
		repository,
		sent: { main, commonDir, base: begins.base, isSnapshot: begins.isSnapshot },
		offer(blobs) {
			const bundle = (commit: string, not: readonly string[]) => bundleOf({ main, key, commit, not }, git);
			const withdrawals = [
				blobs.offer(repository.base.blob, () => bundle(shared, [])),
				blobs.offer(repository.blob, () => bundle(begins.commit, [`^${shared}`])),
			];
			return () => {
				for (const withdraw of withdrawals) withdraw();
			};
		},
	};
}

/** With slashes, as the other machine may write paths in another way. */
export function insideOf(main: string, cwd: string, { relative, sep }: Pick<PlatformPath, "relative" | "sep"> = path) {
	return relative(main, cwd).split(sep).join("/");
}

export interface TakeBackOptions extends NearRepositoryOptions {
	spec: RunSpec & RunIdentity;
	machine: string;
	sent: Sent;
	work: Work;
	/** What went wrong there. */
	problems: readonly string[];
	/** Copies the bundle to this path. */
	fetch: (path: string) => Promise<void>;
	/** Ends it. */
	signal: AbortSignal;
}

/**
 * Puts the agent's commits on the branch `pi/<run>`. What went wrong is a problem in the report; only a connection that
 * ended meanwhile is an error, since trying again helps.
 */
export async function takeBack(options: TakeBackOptions): Promise<WorktreeReport> {
	const { problems, machine, sent, work, spec, allows, git: anyGit = gitWith() } = options;
	try {
		const branch = await importWork(options);
		const git = allowing(anyGit, allowedAt(sent.main, spec.confinedTo, allows));
		const stat = await statOf(sent, `refs/heads/${branch}`, git);
		const { left } = work;
		const more =
			left === undefined
				? []
				: [`Some of its files are in no commit; they are on ${machine}, which says where: "${quotable(left)}"`];
		const all = [...problems, ...more];
		const report: WorktreeReport = { branch, base: sent.base, ...stat, ...(all.length > 0 && { problems: all }) };
		const record = await keepRecord(options, report, branch);
		return { ...report, merge: mergeCommand(record, branch) };
	} catch (error) {
		if (error instanceof Disconnected) throw error;
		const problem = `Its commits are on ${machine} and could not be taken over: ${quotable(messageOf(error), MAX_PROBLEM)}`;
		return { base: sent.base, files: 0, insertions: 0, deletions: 0, problems: [...problems, problem] };
	}
}

async function repositoryAt({ cwd, isolation }: RunSpec, git: Git, signal: AbortSignal) {
	try {
		return await findRepository(cwd, git, signal);
	} catch (error) {
		if (!isolation && error instanceof AgentError && error.code === "no_worktree") return undefined;
		throw error;
	}
}

/** A later run continues with the branch of the earlier one. */
async function earlierWork({ agentId }: RunSpec & RunIdentity, commonDir: string, agentDir: string, git: Git) {
	const records = await readWorktreeRecords(worktreesDir(agentDir));
	const record = records.findLast((each) => each.agentId === agentId && each.commonDir === commonDir);
	if (!record) return undefined;
	const ref = `refs/heads/${record.report?.branch ?? record.branch}`;
	const commit = await tryGit(git, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { cwd: record.main });
	return commit === undefined ? undefined : { commit, base: record.base, isSnapshot: record.isSnapshot };
}

/** The commit that machines are likely to know: that of the last order, unless too much came after it. */
async function sharedBase(
	agentDir: string,
	{ main, commonDir, head, commit }: { main: string; commonDir: string; head: string; commit: string },
	git: Git,
): Promise<string> {
	const dir = join(agentDir, "state", "subagents", "remote");
	const path = join(dir, `${createHash("sha256").update(commonDir).digest("hex").slice(0, 32)}.json`);
	const before = await readBase(path);
	if (before !== undefined) {
		const count = await tryGit(git, ["rev-list", "--count", `${before}..${commit}`], { cwd: main });
		if (count !== undefined && Number(count) <= MAX_COMMITS) return before;
	}
	await mkdir(dir, { recursive: true, mode: 0o700 });
	await editSmallFile(path, () => `${JSON.stringify({ format: 1, base: head })}\n`);
	return head;
}

const MAX_BASE_BYTES = 1_000;

async function readBase(path: string): Promise<string | undefined> {
	const value = parseJson((await readPlain(path, MAX_BASE_BYTES).catch(() => undefined))?.toString("utf8") ?? "");
	return isObject(value) && typeof value.base === "string" && /^[0-9a-f]{40,64}$/.test(value.base)
		? value.base
		: undefined;
}

/** In a new private directory. A bundle needs a ref, which exists only meanwhile. */
async function bundleOf(
	{ main, key, commit, not }: { main: string; key: string; commit: string; not: readonly string[] },
	git: Git,
): Promise<string> {
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-bundle-"));
	const ref = `refs/pi-subagents/sent/${key}-${commit.slice(0, 12)}`;
	try {
		await git(["update-ref", ref, commit], { cwd: main });
		await git(["bundle", "create", "--quiet", join(dir, "bundle"), ref, ...not], { cwd: main });
		return join(dir, "bundle");
	} catch (error) {
		await rm(dir, { recursive: true, force: true });
		throw error;
	} finally {
		await tryGit(git, ["update-ref", "-d", ref], { cwd: main });
	}
}

async function importWork({
	spec,
	sent,
	work,
	fetch,
	allows,
	signal,
	git: anyGit = gitWith(),
}: TakeBackOptions): Promise<string> {
	// A file says which repository it was: only the one that the agent was launched in gets a branch.
	const { main, commonDir } = await findRepository(spec.cwd, anyGit);
	if (main !== sent.main || commonDir !== sent.commonDir)
		throw new Error(`${sent.main} is not the repository that it was launched in`);
	const git = allowing(anyGit, allowedAt(sent.main, spec.confinedTo, allows));
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-bundle-"));
	const here = { cwd: sent.main };
	try {
		const file = join(dir, "bundle");
		await fetch(file);
		const heads = (await git(["bundle", "list-heads", file], here)).split("\n").map((line) => line.split(" ")[0]);
		if (!heads.includes(work.tip)) throw new Error("what was sent does not hold the commit that was named");
		await git(["bundle", "unbundle", file], { ...here, signal });
		const branch = `pi/${runIdOf(spec)}`;
		const ref = `refs/heads/${branch}`;
		const now = await tryGit(git, ["rev-parse", "--verify", "--quiet", ref], here);
		if (now === work.tip) return branch; // an earlier attempt was interrupted
		await git(["update-ref", ref, `${work.tip}^{commit}`, ""], here);
		return branch;
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}

/** So that /agents lists it with the other branches of agents. */
async function keepRecord(options: TakeBackOptions, report: WorktreeReport, branch: string): Promise<WorktreeRecord> {
	const { agentDir, spec, sent, machine, sessionCwd } = options;
	const dir = worktreesDir(agentDir);
	await mkdir(dir, { recursive: true, mode: 0o700 });
	const session = await realpath(sessionCwd?.() ?? sent.main).catch(() => sent.main);
	const root = join(await realpath(dir), runIdOf(spec));
	const { type, description, task, agentId, run } = spec;
	const record: WorktreeRecord = {
		format: 1,
		name: runIdOf(spec),
		agentId,
		run,
		type,
		description,
		task: task.slice(0, 1_000),
		...sent,
		root,
		cwd: root,
		branch,
		isElsewhere: !isWithin(session, sent.main),
		createdAt: Date.now(),
		owner: await identityOf(process.pid),
		notes: [`It worked on ${machine}.`],
		report,
	};
	await claimWorktree(record);
	return record;
}
