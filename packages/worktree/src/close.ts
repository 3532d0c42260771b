/**
 * Closes an agent's checkout: commits its changes to its branch and removes the directory. Changes are never lost: if
 * they cannot be committed, the directory stays and the report says so. Closing again returns the same report.
 */
import { join } from "node:path";
import type { Report } from "@pi-subagents/core";
import { bestEffort, defined, messageOf } from "@pi-subagents/core/internal/base";
import { readPlain } from "@pi-subagents/core/internal/files";
import { mergeCommand } from "@pi-subagents/core/outcome-text";
import { sanitize, type WorktreeReport } from "@pi-subagents/progress";
import { isPlainBranch } from "@pi-subagents/runs/internal";
import { flagsFile, recordsOf } from "./checkout-state.ts";
import { allowing, type Git, GitError, gitWith, objectOf, tryGit } from "./git.ts";
import { exists, isCheckout } from "./open.ts";
import { type Allowed, LIST_SETTINGS } from "./own-config.ts";
import { removeCheckout } from "./place.ts";
import { commitTree, isTreeOf, snapshotOf } from "./snapshot.ts";
import { readWorktreeRecord, type WorktreeRecord, writeWorktreeRecord } from "./worktree-record.ts";

export interface CloseOptions {
	git?: Git;
	/** Called with problems that do not fail the close. */
	report?: Report;
	/** Which of the repository's own settings git may use. Default: those allowed when it was opened. */
	allows?: Allowed | undefined;
}

/** Never rejects. */
export async function closeWorktree(record: WorktreeRecord, options: CloseOptions = {}): Promise<WorktreeReport> {
	const { git = gitWith(), report = () => undefined, allows } = options;
	try {
		return await closed(record, { git, report, allows });
	} catch (error) {
		const failure = `Its changes could not be committed: ${messageOf(error).replace(/\.+$/, "")}. They are in ${record.root}; close it in /agents when that is fixed.`;
		await bestEffort("noting that a worktree could not be closed", report, () =>
			writeWorktreeRecord({ ...record, failure }),
		);
		const { branch, root: path, base } = record;
		return { branch, path, base, ...NOTHING, problems: [failure, ...(await flagsOf(record))] };
	}
}

/** How often another process may be faster. */
const ATTEMPTS = 3;

type Closing = Required<Pick<CloseOptions, "git" | "report">> & Pick<CloseOptions, "allows">;

async function closed(record: WorktreeRecord, options: Closing, attempt = 1): Promise<WorktreeReport> {
	const { report, allows } = options;
	const known = { ...((await readWorktreeRecord(record)) ?? record), ...defined({ allows }) };
	const git = allowing(options.git, known.allows ?? []);
	if (known.report) {
		// The process that wrote it may have died before removing the directory.
		if (known.report.path === undefined && (await exists(known.root)))
			await bestEffort("removing a worktree", report, () => removeCheckout(known, git));
		return withExistingBranch(known.report, known, git);
	}
	try {
		return await finish(known, git);
	} catch (error) {
		// Several processes may close it at once. The first report counts; if that process died, little is left to do.
		const isClosed = (await readWorktreeRecord(record))?.report !== undefined;
		const isOvertaken = error instanceof GitError && /cannot lock ref '[^']*': is at /.test(error.stderr);
		if (isClosed || (isOvertaken && attempt < ATTEMPTS)) return closed(record, options, attempt + 1);
		throw error;
	}
}

/** The record says what was; since then the branch may have been merged and deleted. */
async function withExistingBranch(report: WorktreeReport, { main }: WorktreeRecord, git: Git): Promise<WorktreeReport> {
	const { branch, merge: _merge, ...rest } = report;
	if (branch === undefined || (await objectOf(git, `refs/heads/${branch}`, { cwd: main })) !== undefined) return report;
	return { ...rest, problems: [...(rest.problems ?? []), `Its branch ${branch} no longer exists.`] };
}

async function finish(record: WorktreeRecord, git: Git): Promise<WorktreeReport> {
	const held = await keep(record, git);
	const stat = held.tip === undefined ? NOTHING : await statOf(record, held.tip, git);
	const problems = [...held.problems, ...(await flagsOf(record))];
	const report: WorktreeReport = {
		...(held.branch === undefined ? {} : { branch: held.branch, merge: mergeCommand(record, held.branch) }),
		...(held.isLeft ? { path: record.root } : {}),
		base: record.base,
		...stat,
		...(problems.length > 0 ? { problems } : {}),
	};
	await writeWorktreeRecord({ ...record, report });
	if (held.isLeft) {
		// Otherwise git would show what was committed as undone.
		await tryGit(git, ["reset", "--quiet"], { cwd: record.root, gitDir: record.gitDir });
		return report;
	}
	try {
		await removeCheckout(record, git);
		return report;
	} catch (error) {
		const problem = `The directory ${record.root} could not be removed: ${messageOf(error)}`;
		const changed = { ...report, path: record.root, problems: [...problems, problem] };
		await writeWorktreeRecord({ ...record, report: changed });
		return changed;
	}
}

/** Where the agent's work is. */
interface Held {
	/** Absent if nothing changed. */
	branch?: string;
	tip?: string;
	/** The directory must stay: it holds what no commit does. */
	isLeft: boolean;
	problems: string[];
}

async function keep(record: WorktreeRecord, git: Git): Promise<Held> {
	const { root, gitDir, base, branch, main, allows: allowed = [] } = record;
	const ask = (...args: string[]) => tryGit(git, args, { cwd: main });
	const ref = `refs/heads/${branch}`;
	if (gitDir === undefined || !(await isCheckout(root))) {
		const own = await objectOf(git, ref, { cwd: main });
		await assertOpen(record);
		const isChanged = own !== undefined && own !== base;
		if (own === base) await ask("update-ref", "-d", ref, base);
		const lost = `The directory ${root} is gone; what was not committed there is lost.`;
		const problems = gitDir === undefined ? [] : [lost];
		return { ...(isChanged ? { branch, tip: own } : {}), isLeft: false, problems };
	}
	const here = { cwd: root, gitDir };
	const [both] = await Promise.all([
		tryGit(git, ["rev-parse", "--revs-only", ref, "HEAD^{commit}", "--"], here),
		...[here, { cwd: main }].map((where) => tryGit(git, LIST_SETTINGS, where)), // remembered for what follows
	]);
	const each = () => Promise.all([objectOf(git, ref, { cwd: main }), objectOf(git, "HEAD^{commit}", here)]);
	const [own, head] = both?.split("\n") ?? (await each());
	const checkout = { root, main, gitDir, ignores: recordsOf(record), allowed, isWhole: true };
	const { tree, problems, isWhole } = await snapshotOf(checkout, git);
	await assertOpen(record);
	const isClean = head !== undefined && (await isTreeOf(head, tree, git, here));
	const parents = head === undefined ? [] : [head];
	const committed = isClean ? undefined : await commitTree(here, { tree, parents, message: messageFor(record) }, git);
	const isAncestor = async (one: string, other: string) =>
		one === other || (await ask("merge-base", "--is-ancestor", one, other)) !== undefined;
	const last = committed ?? head ?? base;
	const tip = own !== undefined && (await isAncestor(last, own)) ? own : last;
	const inner = await innerRepositories(record, tip, git);
	const isLeft = !isWhole || inner.length > 0;
	const all = [...problems, ...inner];
	const update = (name: string, to: string, from: string) =>
		git(["update-ref", `refs/heads/${name}`, to, from], { cwd: main });

	if (await isAncestor(tip, base)) {
		if (own === base && !isLeft) await leaveBranch(record, git);
		return { isLeft, problems: all };
	}
	const hasOwnCommits = committed === undefined && tip !== own;
	const at = hasOwnCommits ? await tryGit(git, ["symbolic-ref", "--quiet", "HEAD"], here) : undefined;
	const on = at?.replace(/^refs\/heads\//, "");
	// A name that could say anything is not repeated: its commits go to our own branch.
	if (on !== undefined && on !== branch && isPlainBranch(on)) {
		const more = own !== undefined && own !== base ? [`It has also left commits on ${branch}.`] : [];
		if (own === base) await leaveBranch(record, git);
		return {
			branch: on,
			tip,
			isLeft,
			problems: [...all, `The agent worked on its own branch ${on}, which holds its commits.`, ...more],
		};
	}
	if (own === tip) return { branch, tip, isLeft, problems: all };
	if (own === undefined || own === base || (await isAncestor(own, tip))) {
		await update(branch, tip, own ?? "");
		return { branch, tip, isLeft, problems: all };
	}
	const other = await freeName(branch, record, git);
	await update(other, tip, "");
	return { branch: other, tip, isLeft, problems: [...all, `Its work is on two branches: ${other} and ${branch}.`] };
}

/** The process that closed it is removing its files now; they would count as deleted or lost. */
async function assertOpen(record: WorktreeRecord): Promise<void> {
	if ((await readWorktreeRecord(record))?.report) throw new Error("another process has just closed it");
}

/** The checkout must leave a branch before that is deleted, or everything in it would count as new. */
async function leaveBranch({ root, gitDir, branch, base, main }: WorktreeRecord, git: Git): Promise<void> {
	const ref = `refs/heads/${branch}`;
	const input = `start\noption no-deref\nupdate HEAD ${base}\ncommit\nstart\ndelete ${ref} ${base}\ncommit\n`;
	const both = await tryGit(git, ["update-ref", "--stdin"], { cwd: root, gitDir, input });
	// Even if the checkout cannot leave it: the agent may have broken its HEAD.
	if (both === undefined) await git(["update-ref", "-d", ref, base], { cwd: main });
}

/** Nested repositories: git stores only their commit. */
async function innerRepositories(record: WorktreeRecord, tip: string, git: Git): Promise<string[]> {
	const { gitDir, base, main, root } = record;
	const diff = ["diff", "--raw", "-z", "--no-renames", "--diff-filter=AMT", base, tip];
	const fields = base === tip ? [] : (await git(diff, { cwd: main })).split("\0");
	const links = fields.flatMap((field, index) => (/^:\d+ 160000 /.test(field) ? [fields[index + 1] ?? ""] : []));
	if (links.length > 0)
		return [
			`${links.map(sanitize).join(", ")} in ${root}: nested repositories, whose commits are only in that directory.`,
		];
	const isInitialized = gitDir !== undefined && (await exists(join(gitDir, "modules")));
	return isInitialized ? [`Submodules were checked out in ${root}; commits made in them exist only there.`] : [];
}

async function freeName(branch: string, { main }: WorktreeRecord, git: Git): Promise<string> {
	for (let count = 2; ; count++) {
		const name = `${branch}-${count}`;
		if ((await objectOf(git, `refs/heads/${name}`, { cwd: main })) === undefined) return name;
	}
}

/** Shown in commit lists. */
const SUBJECT_CHARACTERS = 72;
const TASK_CHARACTERS = 500;

function messageFor({ agentId, run, type, description, task }: WorktreeRecord): string {
	const subject = sanitize(description).slice(0, SUBJECT_CHARACTERS).trim() || `Work of agent ${agentId}`;
	const which = run === 1 ? "" : `, run ${run}`;
	const about = sanitize(task).slice(0, TASK_CHARACTERS);
	return `${subject}\n\nAgent ${agentId} (${sanitize(type)}${which}), asked:\n${about}\n\nCommitted by pi-subagents when the agent ended.\n`;
}

const NOTHING = { files: 0, insertions: 0, deletions: 0 };

/** How much was changed since the base. */
export async function statOf(
	{ base, main }: Pick<WorktreeRecord, "base" | "main">,
	to: string,
	git: Git,
): Promise<typeof NOTHING> {
	const text = await git(["diff", "--shortstat", base, to], { cwd: main });
	const number = (what: RegExp) => Number(what.exec(text)?.[1] ?? 0);
	return { files: number(/(\d+) file/), insertions: number(/(\d+) insertion/), deletions: number(/(\d+) deletion/) };
}

/** More would bury the rest. */
const MAX_FLAGS = 5;
const FLAG_BYTES = 64 * 1024;

async function flagsOf(record: WorktreeRecord): Promise<string[]> {
	const bytes = await readPlain(flagsFile(record), FLAG_BYTES).catch(() => undefined);
	const lines = (bytes?.toString("utf8") ?? "")
		.split("\n")
		.filter((line) => line !== "")
		.map(sanitize);
	const beyond = lines.length - MAX_FLAGS;
	return beyond > 0 ? [...lines.slice(0, MAX_FLAGS), `… and ${beyond} more times.`] : lines;
}
