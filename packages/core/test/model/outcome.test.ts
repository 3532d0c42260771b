import { expect, test } from "vitest";
import { outcomeOf } from "../../src/index.ts";

test.each([
	["an answer", { text: "Done.", stopReason: "stop" }, { status: "completed", text: "Done." }],
	["nothing at all", undefined, { status: "failed", error: "The agent ended without an answer." }],
	["a blank answer", { text: " \n", stopReason: "stop" }, { status: "failed", error: "The agent's answer was empty." }],
	[
		"a provider's error",
		{ text: "So far", stopReason: "error", error: "overloaded" },
		{ status: "failed", error: "overloaded", partialText: "So far" },
	],
	[
		"a stop that nobody here asked for",
		{ text: "", stopReason: "aborted" },
		{ status: "failed", error: 'The model stopped with "aborted".' },
	],
	[
		"half an answer",
		{ text: "Once upon", stopReason: "length" },
		{ status: "failed", error: "The answer was cut off at the model's output limit.", partialText: "Once upon" },
	],
	[
		"an unfinished tool call",
		{ text: "Let me see", stopReason: "toolUse" },
		{ status: "failed", error: "The agent ended while it was still using tools.", partialText: "Let me see" },
	],
])("of %s", (_name, last, expected) => {
	expect(outcomeOf(last && { type: "assistant_text", ...last })).toEqual(expected);
});

test("what was said before a silent failure is kept", () => {
	expect(outcomeOf({ type: "assistant_text", text: "", stopReason: "error", error: "no" }, "Let me look.")).toEqual({
		status: "failed",
		error: "no",
		partialText: "Let me look.",
	});
});
