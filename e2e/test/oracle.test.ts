/** The oracle of storms itself: what it lets pass, and what not. */
import { expect, test } from "vitest";
import { accountOf, unbalanced } from "../storm/oracle.ts";

const entry = (data: object) => ({ id: "x", customType: "subagents:record", data });
const launch = (run: number) => ({
	...{
		type: "launched",
		runId: run === 1 ? "a" : `a-r${run}`,
		agentId: "a",
		run,
		description: "x",
		isBackground: true,
	},
});
const settled = (runId: string, more: object = {}) => ({ type: "settled", runId, status: "aborted", ...more });
const said = (...words: string[]) => words.map((what) => ({ what, id: "a" }));

test("an agent may end again without a word of its beginning where its later run was stopped in the queue, once", () => {
	const runs = [launch(1), settled("a"), launch(2), settled("a-r2", { neverStarted: true })];
	const account = accountOf(runs.map(entry));
	const first = ["created", "started", "completed"];
	expect(unbalanced(said(...first, "failed"), account, new Set())).toEqual([]);
	expect(unbalanced(said(...first, "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
});

test("an agent that began ends, and no more often than it began", () => {
	const account = accountOf([launch(1), settled("a")].map(entry));
	expect(unbalanced(said("created", "started"), account, new Set())).toEqual(["a began and never ended."]);
	expect(unbalanced(said("created", "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
	expect(unbalanced(said("created", "started", "completed"), account, new Set())).toEqual([]);
});
