/**
 * What became of an agent's checkout, as text for models and people. Pure. The sentences are made of what was checked:
 * our own branch and directory, numbers. What went wrong is apart, because it repeats names that the agent chose.
 */
import { formatCount, sanitize, type WorktreeReport } from "@pi-subagents/progress";

/** One sentence each. Empty for a run without a checkout. */
export function worktreeLines(report: WorktreeReport | undefined): string[] {
	if (!report) return [];
	const { branch, path, merge, problems } = report;
	const apply = merge === undefined ? "" : ` Apply them with: ${merge}`;
	const isHeld = branch !== undefined && (merge !== undefined || path === undefined);
	const holds = isHeld
		? [`Its changes are on branch ${branch} (${statText(report)}), not in this checkout.${apply}`]
		: [];
	const isUnchanged = branch === undefined && path === undefined && !problems?.length;
	const nothing = isUnchanged ? ["It changed nothing in its worktree."] : [];
	const left =
		path === undefined
			? []
			: [`Its worktree is ${path}${merge === undefined && branch !== undefined ? `, on branch ${branch}` : ""}.`];
	return [...holds, ...nothing, ...left].map(sanitize);
}

/** What went wrong, for people; for a model it goes into a fence. */
export function worktreeProblems(report: WorktreeReport | undefined): string[] {
	return (report?.problems ?? []).map(sanitize);
}

/** A label for a row. */
export function worktreeLabel(report: WorktreeReport | undefined): string | undefined {
	return report?.branch === undefined ? undefined : `branch ${sanitize(report.branch)} (${statText(report)})`;
}

export function statText({ files, insertions, deletions }: WorktreeReport): string {
	return `${formatCount(files, "file")}, +${insertions} -${deletions}`;
}
