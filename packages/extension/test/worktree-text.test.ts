import type { AgentRecord } from "@pi-subagents/core";
import type { Outcome, WorktreeReport } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { notificationFor } from "../src/delivery/notification.ts";
import { outcomeFrom, parseEntry, settledEntry } from "../src/journal/entries.ts";
import { reportFor } from "../src/tools/report.ts";
import { worktreeLines } from "../src/worktree-text.ts";

const report: WorktreeReport = {
	branch: "pi-subagents/a1",
	base: "0".repeat(40),
	files: 2,
	insertions: 10,
	deletions: 3,
	merge: "git merge pi-subagents/a1",
};

const SAYS =
	"Its changes are on branch pi-subagents/a1 (2 files, +10 -3), not in this checkout. Take them over with: git merge pi-subagents/a1";

const recordOf = (outcome: Outcome): AgentRecord => ({
	id: "a1",
	depth: 1,
	type: "coder",
	description: "mend it",
	task: "Mend it.",
	cwd: "/project",
	runner: "session",
	isBackground: true,
	status: outcome.status,
	run: 1,
	queuedAt: 0,
	startedAt: 0,
	completedAt: 1_000,
	lastEventAt: 1_000,
	turns: 1,
	toolUses: 2,
	usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 },
	compactions: 0,
	outcome,
});

test("the branch, how much was changed and the command to merge are named, or that nothing was changed", () => {
	expect(worktreeLines(undefined)).toEqual([]);
	expect(worktreeLines(report)).toEqual([SAYS]);
	expect(worktreeLines({ base: report.base, files: 0, insertions: 0, deletions: 0 })).toEqual([
		"It changed nothing in its worktree.",
	]);
	const { merge: _none, ...failed } = { ...report, path: "/state/a1", problems: ["The disk is full."] };
	expect(worktreeLines(failed)).toEqual(["Its worktree is /state/a1, on branch pi-subagents/a1.", "The disk is full."]);
});

test("whoever reads the result or the notification is told, whatever the outcome", () => {
	const outcomes: Outcome[] = [
		{ status: "completed", text: "Done.", worktree: report },
		{ status: "failed", error: "out of credit", worktree: report },
		{ status: "aborted", by: "user", worktree: report },
	];
	for (const outcome of outcomes) {
		const record = recordOf(outcome);
		expect(reportFor(outcome, record)).toContain(SAYS);
		const { content, details } = notificationFor([{ record, form: "full" }]);
		expect(content).toContain(`<worktree>${SAYS}</worktree>`);
		expect(details.agents[0]?.summary).toContain("branch pi-subagents/a1 (2 files, +10 -3)");
	}
});

test("a session remembers it", () => {
	const outcome: Outcome = { status: "aborted", by: "user", worktree: report };
	const entry = parseEntry("subagents:record", JSON.parse(JSON.stringify(settledEntry(recordOf(outcome), outcome))));
	if (entry?.type !== "settled") throw new Error("not an entry");
	expect(outcomeFrom(entry)).toEqual(outcome);
});
