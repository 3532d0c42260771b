import { expect, test } from "vitest";
import { checkOutput, endText, lookOf, outcomeText, readableError, tallyText, type WaitsFor } from "../src/index.ts";

test("every status has one word; an unknown one is cleaned", () => {
	const words = ["running", "waiting", "queued", "completed", "failed", "aborted"].map(
		(status) => lookOf({ status }).word,
	);
	expect(words).toEqual(["running", "waiting for you", "queued", "done", "failed", "stopped"]);
	expect(lookOf({ status: "\x1b[31mpaused" }).word).toBe("paused");
	expect(lookOf({ status: "toString" }).icon).toBe("●");
	const agents = ["aborted", "completed", "paused", "completed"].map((status) => ({ status }));
	expect(tallyText(agents)).toBe("2 done, 1 stopped, 1 paused");
});

test("only an agent that asked the user waits for you; any other names whom it waits for and counts as running", () => {
	const waiting = (waitsFor?: WaitsFor) => ({ status: "waiting", waitsFor });
	const agents = [
		waiting(),
		waiting({ who: "user" }),
		waiting({ who: "session" }),
		waiting({ who: "agent", name: "Plan\x1b[2J" }),
		waiting({ who: "agent" }),
	];
	expect(agents.map((agent) => lookOf(agent).word)).toEqual([
		"waiting for you",
		"waiting for you",
		"waiting for pi",
		"waiting for Plan",
		"waiting for its parent",
	]);
	expect(agents.map((agent) => lookOf(agent).color)).toEqual(["warning", "warning", "accent", "accent", "accent"]);
	expect(tallyText(agents)).toBe("3 running, 2 waiting for you");
});

test.each([
	[{ status: "completed", text: "" }, "Done in 1m"],
	[{ status: "aborted", by: "user" }, "Stopped by you after 1m"],
	[{ status: "aborted", by: "timeout" }, "Stopped after 1m: timed out"],
	[{ status: "aborted", by: "shutdown", reason: "reload" }, "Stopped after 1m: interrupted by reload"],
	[{ status: "aborted", by: "shutdown" }, "Stopped after 1m: pi shut down"],
	[{ status: "failed", error: '400 {"error":{"message":"Too long."}}' }, "Failed after 1m: 400: Too long."],
] as const)("%o ends with %s", (outcome, text) => {
	expect(endText(outcome, { durationMs: 60_000 })).toBe(text);
});

test("a model reads that a reload interrupted the agent", () => {
	expect(outcomeText({ status: "aborted", by: "shutdown", reason: "reload" })).toBe("Interrupted by reload");
});

test.each([
	['429 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}', "429: Slow down."],
	['{"error":{"message":"{\\"error\\":{\\"message\\":\\"No such model\\"}}","code":404}}', "No such model"],
	['OpenAI API error (401): {"detail":"No key"}', "OpenAI API error (401): No key"],
	['[{"errors":["first","second"]}]', "first"],
	["expected { in a.ts", "expected { in a.ts"],
	['{"code":3}', '{"code":3}'],
])("the message of %s is %s", (error, message) => {
	expect(readableError(error)).toBe(message);
});

test("of a failed check, people see the last lines of its output, cleaned and bounded; of anything else nothing", () => {
	const failed = (tail: unknown) =>
		({ status: "failed", error: "Not verified", verification: { ok: false, tail: tail as string } }) as const;
	const lines = Array.from({ length: 50 }, (_, at) => `not ok ${at}`).join("\n");
	const shown = checkOutput(failed(`${lines}\x1b[2J\n  at a.ts\n${"x".repeat(1_000)}\n\n`)).split("\n");
	expect(shown).toHaveLength(20);
	expect(shown.slice(-3)).toEqual(["not ok 49", "  at a.ts", `${"x".repeat(399)}…`]);
	expect([failed(undefined), failed(7), failed(""), undefined].map(checkOutput)).toEqual(["", "", "", ""]);
	expect(checkOutput({ status: "completed", text: "x", verification: { ok: true, tail: "fine" } })).toBe("");
});
