import type { WorktreeReport } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { worktreeLines, worktreeProblems } from "../../src/outcome-text/worktree-text.ts";

const report: WorktreeReport = {
	branch: "pi-subagents/a1",
	base: "0".repeat(40),
	files: 2,
	insertions: 10,
	deletions: 3,
	merge: "git merge pi-subagents/a1",
};

const SAYS =
	"Its changes are on branch pi-subagents/a1 (2 files, +10 -3), not in this checkout. Apply them with: git merge pi-subagents/a1";

test("the branch, how much was changed and the command to merge are named, or that nothing was changed", () => {
	expect(worktreeLines(undefined)).toEqual([]);
	expect(worktreeLines(report)).toEqual([SAYS]);
	expect(worktreeLines({ base: report.base, files: 0, insertions: 0, deletions: 0 })).toEqual([
		"It changed nothing in its worktree.",
	]);
	const { merge: _none, ...failed } = { ...report, path: "/state/a1", problems: ["The disk is full."] };
	expect(worktreeLines(failed)).toEqual(["Its worktree is /state/a1, on branch pi-subagents/a1."]);
	expect(worktreeProblems(failed)).toEqual(["The disk is full."]);
});
