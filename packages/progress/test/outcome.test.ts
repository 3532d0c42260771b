import { expect, test } from "vitest";
import { type AbortedBy, type Outcome, outcomeText, whyText } from "../src/index.ts";

test.each<[Outcome, string, string]>([
	[{ status: "completed", text: "x" }, "Completed", "Completed in 1m 12s"],
	[
		{ status: "completed", text: "x", wrappedUp: true },
		"Wrapped up at its turn limit",
		"Wrapped up at its turn limit after 1m 12s",
	],
	[
		{ status: "completed", text: "x", wrappedUp: true, by: "timeout" },
		"Wrapped up at its time limit",
		"Wrapped up at its time limit after 1m 12s",
	],
	[
		{ status: "completed", text: "x", verification: { ok: true, command: "npm\u001b[31m test", durationMs: 12_300 } },
		"Completed, verified: npm test (12.3s)",
		"Completed in 1m 12s, verified: npm test (12.3s)",
	],
	[
		{ status: "completed", text: "x", verification: { ok: false, problem: "project not trusted" } },
		"Completed, not verified: project not trusted",
		"Completed in 1m 12s, not verified: project not trusted",
	],
	[
		{ status: "failed", error: "model unavailable" },
		"Failed: model unavailable",
		"Failed after 1m 12s: model unavailable",
	],
	[{ status: "failed", error: " " }, "Failed", "Failed after 1m 12s"],
	[
		{ status: "aborted", by: "idle", reason: "5 minutes" },
		"Stopped: no activity (5 minutes)",
		"Stopped after 1m 12s: no activity (5 minutes)",
	],
	[
		{ status: "aborted", by: "parent", reason: "wrong branch" },
		"Stopped by its parent: wrong branch",
		"Stopped by its parent after 1m 12s: wrong branch",
	],
])("%j reads %s", (outcome, expected, expectedWithDuration) => {
	expect(outcomeText(outcome)).toBe(expected);
	expect(outcomeText(outcome, { durationMs: 72_000 })).toBe(expectedWithDuration);
});

const STOPPED: Record<AbortedBy, string> = {
	user: "Stopped by you",
	parent: "Stopped by its parent",
	turns: "Stopped: too many turns",
	timeout: "Timed out",
	idle: "Stopped: no activity",
	budget: "Stopped: budget used up",
	shutdown: "Interrupted: pi shut down",
	lost: "Lost: the agent ended without a result",
};

test.each(Object.entries(STOPPED))("an abort by %s reads %s", (by, expected) => {
	expect(outcomeText({ status: "aborted", by: by as AbortedBy })).toBe(expected);
});

test("errors and reasons are cleaned and shortened", () => {
	expect(outcomeText({ status: "failed", error: "\x1b[31m529\noverloaded\u202e" })).toBe("Failed: 529 overloaded");
	expect(outcomeText({ status: "failed", error: "x".repeat(10_000) })).toBe(`Failed: ${"x".repeat(399)}…`);
});

test.each([
	[{ status: "paused" }, "Ended"],
	[{ status: "aborted", by: "toString" }, "Stopped"],
	[{ status: "failed" }, "Failed"],
])("an outcome that we do not know still reads as something: %j", (outcome, expected) => {
	expect(outcomeText(outcome as unknown as Outcome)).toBe(expected);
});

test("text of others is escaped where it stands in an element, and what is fenced is not", () => {
	const options = { isForModel: true, escapeText: (text: string) => text.replaceAll("<", "&lt;") };
	const verification = { ok: true, command: "test 1 <2" };
	expect(outcomeText({ status: "completed", text: "x", verification }, options)).toBe(
		"Completed, verified: test 1 &lt;2",
	);
	const unverified = { status: "failed", error: "Not verified: a <b", verification: { ok: false } } as const;
	expect(outcomeText(unverified, options)).toBe("Failed: Not verified: a &lt;b");
	expect(outcomeText({ status: "failed", error: "a <b" }, options)).toMatch(
		/^Failed: <cause-\w{12}>a <b<\/cause-\w{12}>$/,
	);
});

test.each<[Outcome, string]>([
	[{ status: "failed", error: '429 {"error":{"message":"Slow down."}}' }, "429: Slow down."],
	[{ status: "failed", error: "Boom.", claimedBy: "file" }, 'its file says: "Boom."'],
	[{ status: "failed", error: "" }, "Failed after 2s"],
	[{ status: "aborted", by: "user" }, "Stopped by you after 2s"],
])("beside an icon and a time, %j reads %s", (outcome, expected) => {
	expect(whyText(outcome, { durationMs: 2_000 })).toBe(expected);
});

test("a limit that we do not know is a limit", () => {
	const cut = { status: "completed", text: "x", wrappedUp: true, by: "toString" } as unknown as Outcome;
	expect(outcomeText(cut)).toBe("Wrapped up at its limit");
});
