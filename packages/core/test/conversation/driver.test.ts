import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { Driver, type DriverOptions, failed, type Judge, type Pass } from "../../src/conversation/driver.ts";
import type { Limits } from "../../src/index.ts";
import { handClock } from "../../src/testing/index.ts";
import { spec } from "../fixtures/events.ts";

function driven(limits: Limits = {}, options: Partial<DriverOptions> = {}) {
	const events: ChildEvent[] = [];
	const state: { pass: Pass; isDeaf: boolean; percent?: number } = { pass: { word: "go" }, isDeaf: false };
	const driver = new Driver(
		{ ...spec, limits },
		{
			clock: handClock(),
			emit: (event) => void events.push(event),
			isDeaf: () => state.isDeaf,
			isOver: () => false,
			contextPercent: () => state.percent,
			pass: async () => state.pass,
			...options,
		},
	);
	const say = (text: string, stopReason = "toolUse") => driver.observe({ type: "assistant_text", text, stopReason });
	const outcomeOf = (judge: Judge | undefined): Outcome | undefined => judge?.(driver.finalMessage);
	return { driver, events, state, say, outcomeOf };
}

test("a child that may continue does, and passes its checkpoint for each turn", async () => {
	let passed = 0;
	const { driver } = driven({ maxTurns: 3 }, { pass: async () => ({ word: ++passed ? "go" : "end" }) });
	for (let turn = 0; turn < 2; turn++) {
		driver.countTurn();
		expect(await driver.afterTurn()).toBeUndefined();
	}
	expect([passed, driver.takeWrapUp()]).toEqual([2, undefined]);
});

test("a child at its turn limit is asked once for its answer, which is marked", async () => {
	const { driver, say } = driven({ maxTurns: 1, graceTurns: 2 });
	driver.countTurn();
	expect(await driver.afterTurn()).toBeUndefined();
	expect(driver.takeWrapUp()).toMatch(/^Finish now: the turn limit is reached\./);
	expect([driver.takeWrapUp(), driver.isWrappingUp]).toEqual([undefined, true]);
	say("So far.", "stop");
	expect(driver.outcome()).toEqual({ status: "completed", text: "So far.", wrappedUp: true });
});

test("a child that keeps going after its grace turns is stopped, and what it said is kept", async () => {
	const { driver, say, outcomeOf } = driven({ maxTurns: 1, graceTurns: 1 });
	driver.countTurn();
	driver.takeWrapUp();
	say("Let me look again.");
	driver.countTurn();
	expect(outcomeOf(await driver.afterTurn())).toMatchObject({
		status: "aborted",
		by: "turns",
		reason: "no answer after 2 turns",
		partialText: "Let me look again.",
	});
});

test.each<[string, Pass, Partial<Outcome>]>([
	["ends it", { word: "end" }, { status: "failed" }],
	["stops it", { stop: { by: "budget", reason: "it used $2" } }, { status: "aborted", by: "budget" }],
	["fails", { error: "the ledger is gone" }, { status: "failed", error: "the ledger is gone" }],
])(
	"a run whose checkpoint %s between two turns has not completed, and keeps its text",
	async (_how, pass, expected) => {
		const { driver, state, say, outcomeOf } = driven();
		say("Interim.");
		state.pass = pass;
		expect(outcomeOf(await driver.afterTurn())).toMatchObject({ ...expected, partialText: "Interim." });
	},
);

test("a run that had answered ends with that answer if it may not be asked to correct it", async () => {
	const answered: Judge = () => ({ status: "failed", error: "no JSON" });
	const { driver, state } = driven({ maxTurns: 1, graceTurns: 0 });
	expect(await driver.again(answered)).toBeUndefined();
	state.pass = { word: "end" };
	expect(await driver.again(answered)).toBe(answered);
	state.pass = { word: "go" };
	driver.countTurn();
	expect(await driver.again(answered)).toBe(answered); // no turn is left
});

test("what a child says once it is no longer heard changes nothing", () => {
	const { driver, events, state, say } = driven();
	say("The answer.", "stop");
	state.isDeaf = true;
	say("Another one.", "stop");
	expect(events).toHaveLength(1);
	expect(driver.outcome()).toMatchObject({ status: "completed", text: "The answer." });
});

test("a turn says how full the context is, and a failure how long the provider wants to wait", () => {
	const { driver, events, state } = driven();
	driver.observe({ type: "turn" });
	state.percent = 40;
	driver.observe({ type: "turn" });
	driver.retryAfter.note(3_000);
	driver.hear({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1_000, errorMessage: "429" });
	expect(events).toEqual([
		{ type: "turn" },
		{ type: "turn", contextPercent: 40 },
		expect.objectContaining({ type: "retrying", retryAfterMs: 3_000 }),
	]);
});

test("a run that is stopped in the middle of a message keeps that part, one that fails keeps what was said", () => {
	const { driver, say } = driven();
	say("First.");
	driver.write("Half a sen");
	expect(driver.stopped({ by: "user" })).toMatchObject({ status: "aborted", partialText: "First.\n\nHalf a sen" });
	expect(driver.failed("pi is gone")).toEqual(failed("pi is gone")(driver.finalMessage));
	expect(driver.failed("pi is gone")).toMatchObject({ status: "failed", error: "pi is gone", partialText: "First." });
});
