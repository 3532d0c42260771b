/**
 * The repository that came with an order: a checkout for the agent on this machine, and its commits on their way back.
 *
 * `repos/<base>` keeps what many runs begin with, so a later order brings only what changed since. `checkouts/<key>`
 * is a repository of one run, which borrows those objects; it goes when the near side has everything.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RunIdentity, RunSpec } from "@pi-subagents/core";
import { replaceWhole } from "@pi-subagents/core/internal/files";
import type { WorktreeReport } from "@pi-subagents/progress";
import { type Git, gitWith, openWorktree, tryGit, type WorktreeRecord } from "@pi-subagents/worktree";
import { Refused, type Work } from "../link/link.ts";
import type { SentRepository } from "../link/order.ts";

export interface FarRepositoryOptions {
	repository: SentRepository;
	home: string;
	key: string;
	spec: RunSpec & RunIdentity;
	/** Copies a blob of the near side to a name in the order's directory. */
	fetch: (id: string, name: string) => Promise<void>;
	git?: Git;
}

const REF = "refs/pi-subagents/base";

export async function openRepository(options: FarRepositoryOptions): Promise<WorktreeRecord> {
	const { repository, home, key, spec, fetch, git = gitWith() } = options;
	const { commit, blob, base, inside } = repository;
	const cache = join(home, "repos", base.commit);
	const incoming = (name: string) => join(home, "in", key, name);
	await init(git, cache);
	if (!(await has(git, cache, base.commit))) {
		await fetch(base.blob, "base");
		await git(["bundle", "unbundle", incoming("base")], { cwd: cache });
		await git(["update-ref", REF, base.commit], { cwd: cache });
		await rm(incoming("base"), { force: true });
	}
	const main = join(home, "checkouts", key, "main");
	await init(git, main);
	await replaceWhole(join(main, ".git", "objects", "info", "alternates"), `${join(cache, ".git", "objects")}\n`);
	if (commit !== base.commit) {
		await fetch(blob, "work");
		await git(["bundle", "unbundle", incoming("work")], { cwd: main });
	}
	if (!(await has(git, main, commit))) throw new Refused("The repository did not arrive complete");
	await git(["update-ref", "--no-deref", "HEAD", commit], { cwd: main });
	const cwd = join(main, inside);
	await mkdir(cwd, { recursive: true });
	const { agentId: id, type, description, task } = spec;
	const about = { type, description, task };
	return openWorktree({ cwd, dir: join(home, "checkouts", key, "trees"), id, run: 1, base: "head", about, git });
}

/** The agent's commits as a bundle beside the run. Undefined if it changed nothing. */
export async function packWork(options: {
	home: string;
	key: string;
	report: WorktreeReport;
	git?: Git;
}): Promise<Work | undefined> {
	const { home, key, report, git = gitWith() } = options;
	const { branch, base, path } = report;
	const cwd = join(home, "checkouts", key, "main");
	const ref = `refs/heads/${branch}`;
	const tip = branch === undefined ? undefined : await tryGit(git, ["rev-parse", "--verify", "--quiet", ref], { cwd });
	if (tip === undefined || tip === base) return undefined;
	const out = join(home, "out", key);
	await mkdir(out, { recursive: true, mode: 0o700 });
	const file = join(out, tip);
	await rm(file, { force: true });
	await git(["bundle", "create", "--quiet", file, ref, `^${base}`], { cwd });
	return { blob: tip, tip, ...(path !== undefined && { left: path }) };
}

async function init(git: Git, path: string): Promise<void> {
	await mkdir(path, { recursive: true, mode: 0o700 });
	await git(["init", "--quiet", "--template="], { cwd: path });
}

async function has(git: Git, cwd: string, commit: string): Promise<boolean> {
	return (await tryGit(git, ["cat-file", "-e", `${commit}^{commit}`], { cwd })) !== undefined;
}
