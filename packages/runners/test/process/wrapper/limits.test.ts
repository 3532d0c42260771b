import { slowdown } from "@pi-subagents-dev/testkit/wait";
import { expect, test } from "vitest";
import type { Limits } from "../../../../core/src/index.ts";
import { fakeWorld } from "./fixture.ts";

test.each<[string, string, Limits, { by: string; reason: string }]>([
	["its time", "hangs", { timeoutMs: 700 }, { by: "timeout", reason: "it ran longer than 0.7s" }],
	["its time without a sign", "hangs", { idleTimeoutMs: 600 }, { by: "idle", reason: "nothing happened for 0.6s" }],
	["a tool's time", "tool", { toolTimeoutMs: 300 }, { by: "timeout", reason: "bash ran longer than 0.3s" }],
	["its turns", "loops", { maxTurns: 2, graceTurns: 3 }, { by: "turns", reason: "no answer after 5 turns" }],
	[
		"its turns without grace",
		"loops",
		{ maxTurns: 2, graceTurns: 0 },
		{ by: "turns", reason: "no answer after 2 turns" },
	],
	["its tokens", "loops", { budgetTokens: 40 }, { by: "budget", reason: "it used 45 of 40 tokens" }],
	["its money", "loops", { budgetCost: 0.02 }, { by: "budget", reason: "it used $0.02 of $0.02" }],
])("a child that has used up %s is stopped, though nobody watches", async (_what, scenario, limits, stop) => {
	await using world = await fakeWorld(scenario, { spec: { limits } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "aborted", ...stop });
	expect(await world.survivors()).toEqual([]);
});

test("a child that thinks, writes or whose tool prints is not stopped for silence", async () => {
	await using world = await fakeWorld("keeps_on", { spec: { limits: { idleTimeoutMs: 1_000 * slowdown() } } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "completed", text: "Done." });
});

test.each<[string, Limits]>([
	["timeout", { timeoutMs: 700 * slowdown() }],
	["idle", { idleTimeoutMs: 600 * slowdown() }],
])("%s: what a child had written of its answer is kept", async (by, limits) => {
	await using world = await fakeWorld("streams", { spec: { limits } });
	const { result } = await world.run();
	const partialText = "I look first.\n\nThe launch code is helio";
	expect(result).toMatchObject({ outcome: { status: "aborted", by, partialText }, finalText: partialText });
});

test("at its turn limit a child is asked for its answer, once", async () => {
	await using world = await fakeWorld("works", { spec: { limits: { maxTurns: 1 } } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "completed", text: "Wrapped up.", wrappedUp: true });
	expect(await world.heard()).toEqual([
		"Look around and report.",
		expect.stringMatching(/^Finish now: the turn limit is reached\./),
	]);
});

test.each<[string, string, Limits]>([
	["timeout", "of 1h are left", { timeoutMs: 3_600_000, wrapUpPercent: 100 }],
	["budget", "tokens are left", { budgetTokens: 20, wrapUpPercent: 10 }],
])("before its %s ends it, a child that nobody watches is asked for its answer", async (by, reason, limits) => {
	await using world = await fakeWorld("works", { spec: { limits } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "completed", text: "Wrapped up.", wrappedUp: true, by });
	expect(await world.heard()).toEqual(["Look around and report.", expect.stringContaining(reason)]);
});

test.each<[string, Limits, string]>([
	["without a budget of its own", {}, "it used 45 of 40 tokens"],
	["with a larger one", { budgetTokens: 1_000 }, "it used 45 of 40 tokens"],
	["with a smaller one", { budgetTokens: 25 }, "it used 30 of 25 tokens"],
])("what it may use alone limits a child that nobody watches, %s", async (_which, limits, reason) => {
	await using world = await fakeWorld("loops", { spec: { limits } });
	await world.tell({ type: "alone", limits: { budgetTokens: 1_000 } }, { type: "alone", limits: { budgetTokens: 40 } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "aborted", by: "budget", reason });
});

test("what it may use alone does not limit a child that somebody watches", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	await world.tell({ type: "alone", limits: { budgetTokens: 1 } });
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id, word: "go" });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Worked." });
});

test("who watches decides about the budget", async () => {
	await using world = await fakeWorld("works", { spec: { limits: { budgetTokens: 1 } } });
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id, word: "go" });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Worked." });
});
