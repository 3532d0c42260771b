/** An agent that has settled, for the tests of what is told about it. */
import type { Outcome } from "@pi-subagents/progress";
import type { AgentRecord } from "../../src/model/record.ts";

export const recordOf = (outcome: Outcome, more: Partial<AgentRecord> = {}): AgentRecord => ({
	id: "a1",
	depth: 1,
	type: "scout",
	description: "count files",
	task: "Count.",
	cwd: "/project",
	runner: "session",
	isBackground: false,
	status: outcome.status,
	run: 1,
	queuedAt: 0,
	startedAt: 0,
	completedAt: 2_000,
	lastEventAt: 2_000,
	outcome,
	turns: 1,
	toolUses: 0,
	usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 },
	compactions: 0,
	...more,
});
