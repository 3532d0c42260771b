/**
 * What may be believed of a stored report about a checkout: our own branches and directories, and commands that we make
 * again. What went wrong is text, and stays that. Pure.
 */
import { basename, dirname, isAbsolute } from "node:path";
import { defined } from "@pi-subagents/core/internal/base";
import type { MergeBase } from "@pi-subagents/core/internal/run";
import { mergeCommand } from "@pi-subagents/core/outcome-text";
import { sanitize, type WorktreeReport } from "@pi-subagents/progress";

/** Ours, or a name that an agent chose in the way of developers. Others could say anything in a sentence. */
export function isPlainBranch(name: string): boolean {
	return /^[A-Za-z0-9][\w.+-]*(?:\/[\w.+-]+)*$/.test(name) && name.length <= MAX_BRANCH && !name.includes("..");
}

const MAX_BRANCH = 150;

/** The report in the record of a checkout. */
export function reportOfRecord(record: MergeBase & { root: string }, given: WorktreeReport): WorktreeReport {
	const branch = plainBranch(given);
	const merge = branch === undefined || given.merge === undefined ? undefined : mergeCommand(record, branch);
	const path = given.path === undefined ? undefined : record.root;
	return { ...defined({ branch, merge, path }), base: record.base, ...figures(given), ...problemsIn(given) };
}

/**
 * A report that no record of a checkout confirms, such as one in a session's entry. `cwd`: where its agent was launched.
 * Undefined if nothing of it can be used.
 */
export function reportOfEntry(given: WorktreeReport, { cwd }: { cwd: string }): WorktreeReport | undefined {
	const { base } = given;
	if (!/^[0-9a-f]{40,64}$/.test(base)) return undefined;
	const branch = plainBranch(given);
	const commands = branch === undefined ? [] : mergesOf(branch, base, cwd);
	const merge = commands.find((each) => each === given.merge);
	const path = given.path !== undefined && isCheckoutPath(given.path) ? given.path : undefined;
	return { ...defined({ branch, merge, path }), base, ...figures(given), ...problemsIn(given) };
}

/** All commands that we could have made: in the session's own repository, or in one above the agent's directory. */
function mergesOf(branch: string, base: string, cwd: string): string[] {
	const mains: string[] = [];
	for (let at = cwd, below = ""; at !== below; below = at, at = dirname(at)) mains.push(at);
	return [true, false].flatMap((isSnapshot) => [
		mergeCommand({ main: cwd, base, isSnapshot, isElsewhere: false }, branch),
		...mains.map((main) => mergeCommand({ main, base, isSnapshot, isElsewhere: true }, branch)),
	]);
}

/** Checkouts are named by us, wherever they are. */
function isCheckoutPath(path: string): boolean {
	return isAbsolute(path) && path === sanitize(path) && /^[\w-]{1,100}$/.test(basename(path));
}

function plainBranch({ branch }: WorktreeReport): string | undefined {
	return branch !== undefined && isPlainBranch(branch) ? branch : undefined;
}

function figures({ files, insertions, deletions }: WorktreeReport) {
	return { files: bounded(files), insertions: bounded(insertions), deletions: bounded(deletions) };
}

/** More than any repository has. */
const MAX_COUNT = 1e9;

function bounded(count: number): number {
	return Number.isInteger(count) && count >= 0 ? Math.min(count, MAX_COUNT) : 0;
}

const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 1_000;

function problemsIn({ problems = [] }: WorktreeReport): Pick<WorktreeReport, "problems"> {
	const kept = problems.slice(0, MAX_PROBLEMS).map((each) => sanitize(each).slice(0, MAX_PROBLEM));
	return kept.length > 0 ? { problems: kept } : {};
}
