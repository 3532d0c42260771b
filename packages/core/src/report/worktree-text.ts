/** What became of an agent's checkout, as text for models and people. Pure. */
import { formatCount, sanitize, type WorktreeReport } from "@pi-subagents/progress";

/** One sentence each. Empty for a run without a checkout. */
export function worktreeLines(report: WorktreeReport | undefined): string[] {
	if (!report) return [];
	const { branch, path, merge, problems = [] } = report;
	const holds =
		branch === undefined || merge === undefined
			? []
			: [`Its changes are on branch ${branch} (${statText(report)}), not in this checkout. Apply them with: ${merge}`];
	const nothing = branch === undefined && path === undefined ? ["It changed nothing in its worktree."] : [];
	const left =
		path === undefined
			? []
			: [`Its worktree is ${path}${merge === undefined && branch !== undefined ? `, on branch ${branch}` : ""}.`];
	return [...holds, ...nothing, ...left, ...problems].map(sanitize);
}

/** A label for a row. */
export function worktreeLabel(report: WorktreeReport | undefined): string | undefined {
	return report?.branch === undefined ? undefined : `branch ${sanitize(report.branch)} (${statText(report)})`;
}

export function statText({ files, insertions, deletions }: WorktreeReport): string {
	return `${formatCount(files, "file")}, +${insertions} -${deletions}`;
}
