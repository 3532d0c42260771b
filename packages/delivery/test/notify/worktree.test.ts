/** What an agent changed in its own checkout, in results, notifications and what a session remembers. */
import { outcomeForModel } from "@pi-subagents/core/outcome-text";
import type { Outcome, WorktreeReport } from "@pi-subagents/progress";
import { outcomeOfEntry, parseEntry } from "@pi-subagents/runs";
import { expect, test } from "vitest";
import { settledEntry } from "../../src/journal/entry-content.ts";
import { notificationFor } from "../../src/notify/notification-text.ts";
import { recordOf } from "./fixture.ts";

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

test("whoever reads the result or the notification is told, whatever the outcome", () => {
	const outcomes: Outcome[] = [
		{ status: "completed", text: "Done.", worktree: report },
		{ status: "failed", error: "out of credit", worktree: report },
		{ status: "aborted", by: "user", worktree: report },
	];
	for (const outcome of outcomes) {
		const record = recordOf(outcome);
		expect(outcomeForModel({ outcome, record }).text).toContain(SAYS);
		const { content, details } = notificationFor([{ record, form: "full", isUnfiled: false }]);
		expect(content).toContain(`<worktree>${SAYS}</worktree>`);
		expect(details.agents[0]?.summary).toContain("branch pi-subagents/a1 (2 files, +10 -3)");
	}
});

test("a session remembers it", () => {
	const outcome: Outcome = { status: "aborted", by: "user", worktree: report };
	const entry = parseEntry(
		"subagents:record",
		JSON.parse(JSON.stringify(settledEntry(recordOf(outcome), outcome, { carriesAnswer: false }))),
	);
	if (entry?.type !== "settled") throw new Error("not an entry");
	expect(outcomeOfEntry(entry, { runner: "session", isolation: "worktree", cwd: "/project" })).toEqual(outcome);
});
