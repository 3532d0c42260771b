import { expect, test } from "vitest";
import { TurnLimit } from "../../src/conversation/turn-limit.ts";
import { nearBudget } from "../../src/model/budget.ts";
import { isNear, nearTimeout } from "../../src/model/deadlines.ts";
import { NO_USAGE } from "../../src/model/usage.ts";

test.each([
	["the last tenth", { limit: 100, used: 90, turn: 1, percent: 10 }, true],
	["just before it", { limit: 100, used: 89, turn: 1, percent: 10 }, false],
	["no room for another turn", { limit: 100, used: 70, turn: 30, percent: 10 }, true],
	["room for one more", { limit: 100, used: 69, turn: 30, percent: 10 }, false],
	["a long first turn, and more than half left", { limit: 100, used: 49, turn: 49, percent: 10 }, false],
	["a long first turn, and less than half left", { limit: 100, used: 60, turn: 60, percent: 10 }, true],
	["beyond the limit", { limit: 100, used: 120, turn: 1, percent: 10 }, true],
	["no limit", { limit: undefined, used: 1e9, turn: 1e9, percent: 10 }, false],
	["switched off", { limit: 100, used: 100, turn: 1, percent: 0 }, false],
])("%s", (_what, input, expected) => {
	expect(isNear(input)).toBe(expected);
});

test("the agent reads how much is left", () => {
	const limits = { timeoutMs: 60_000, budgetTokens: 1_000, budgetCost: 1, wrapUpPercent: 10 };
	expect(nearTimeout(limits, { elapsedMs: 55_000, turnMs: 0 })).toEqual({ by: "timeout", reason: "5s of 1m are left" });
	expect(nearTimeout(limits, { elapsedMs: 10_000, turnMs: 0 })).toBeUndefined();
	const tokens = { ...NO_USAGE, cacheRead: 950 }; // billed, so they count
	expect(nearBudget(tokens, NO_USAGE, limits)).toEqual({ by: "budget", reason: "50 of 1k tokens are left" });
	expect(nearBudget({ ...NO_USAGE, cost: 0.95 }, NO_USAGE, limits)?.reason).toBe("$0.05 of $1.00 are left");
});

test.each([
	[{ maxTurns: 20, graceTurns: 0, wrapUpPercent: 10 }, 18, 20],
	[{ maxTurns: 3, graceTurns: 0, wrapUpPercent: 10 }, 2, 3],
	[{ maxTurns: 1, graceTurns: 0, wrapUpPercent: 10 }, undefined, 1],
	[{ maxTurns: 3, graceTurns: 0 }, undefined, 3],
	[{ maxTurns: 3, graceTurns: 2, wrapUpPercent: 10 }, 3, 5],
])("with %j it is asked to finish after turn %s and ended after turn %s", (limits, asked, ended) => {
	const limit = new TurnLimit(limits);
	let askedAt: number | undefined;
	while (limit.verdict !== "end") {
		limit.count();
		if (limit.verdict !== "wrap_up") continue;
		askedAt = limit.turns;
		limit.startGrace();
	}
	expect([askedAt, limit.turns]).toEqual([asked, ended]);
});

test("a limit that is close gives one turn for the answer even without grace, and marks it", () => {
	const limit = new TurnLimit({ graceTurns: 0, wrapUpPercent: 10 });
	limit.hurry("5s are left", "timeout");
	expect(limit.verdict).toBe("wrap_up");
	limit.startGrace();
	const answer = { status: "completed", text: "So far." } as const;
	expect(limit.markCut(answer)).toEqual({ ...answer, wrappedUp: true, by: "timeout" });
	limit.count();
	expect(limit.verdict).toBe("end");
});
