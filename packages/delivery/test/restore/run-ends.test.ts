import { type AgentRecord, Store } from "@pi-subagents/core";
import { expect, test } from "vitest";
import { launchEntry } from "../../src/journal/entry-content.ts";
import { eventsOf } from "../../src/restore/run-ends.ts";

const HOUR = 3_600_000;
const record = {
	...{ id: "a", run: 1, type: "scout", description: "look", task: "Look.", cwd: "/project", runner: "process" },
	...{ isBackground: true, depth: 1, queuedAt: 10 * HOUR },
} as AgentRecord;
const outcome = { status: "completed" as const, text: "Done." };

test.each([
	{ startedAt: 9 * HOUR, completedAt: 9 * HOUR + 5, why: "the clock was set back before it ended" },
	{ completedAt: 9 * HOUR, why: "nobody knows when it began" },
	{ startedAt: 10 * HOUR - 1, completedAt: 11 * HOUR, why: "it began, rounded, a millisecond before" },
])("no run that is read back ends before it was queued: $why", ({ why: _, ...times }) => {
	const run = { launch: launchEntry(record), outlives: true } as Parameters<typeof eventsOf>[0];
	const store = new Store();
	for (const event of eventsOf(run, 0, { outcome, isFiled: false, ...times })) store.dispatch(event);
	const { queuedAt = 0, startedAt = 0, completedAt = 0 } = store.record("a") ?? {};
	expect([queuedAt, startedAt, completedAt]).toEqual([queuedAt, startedAt, completedAt].toSorted((a, b) => a - b));
	expect(completedAt).toBe(times.completedAt);
	expect(queuedAt).toBe(Math.min(record.queuedAt, completedAt));
});
