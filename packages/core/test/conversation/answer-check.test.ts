import { describe, expect, test } from "vitest";
import { AnswerCheck } from "../../src/conversation/answer-check.ts";
import { outcomeOf } from "../../src/model/outcome.ts";
import { handClock } from "../../src/testing/index.ts";
import { spec } from "../fixtures/events.ts";

/** What becomes of a run whose first request fails like this. */
async function afterError(error: string, stopReason = "error"): Promise<string> {
	const sequel = new AnswerCheck({ ...spec, fallbackModels: ["other/two"] }, handClock());
	const last = { type: "assistant_text", text: "", stopReason, error } as const;
	sequel.hear(last);
	return (await sequel.after(outcomeOf(last), last)).does;
}

describe("another model", () => {
	test.each([
		"401 invalid key",
		"404 model not found",
		"429 rate limit exceeded",
		"429 Your request exceeds the limit of 30000 input tokens per minute",
		"ThrottlingException: Too many tokens, please wait before trying again.",
		"You exceeded your current quota, please check your plan and billing details",
		"request limit exceeded for the day",
		"This organization has exceeded its monthly token allowance",
		'529 {"type":"overloaded_error"}',
		"Request timed out.",
		"fetch failed",
	])("may do better than one that failed with %j", async (error) => {
		expect(await afterError(error)).toBe("fall_back");
	});

	test.each([
		"prompt is too long: 213462 tokens > 200000 maximum",
		'413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
		"Your input exceeds the context window of this model",
		"Input length (265330) exceeds model's maximum context length (262144).",
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens",
		"Please reduce the length of the messages or completion",
		"The input (5 tokens) is longer than the model's context length (4 tokens).",
		"the request exceeds the available context size, try increasing it",
		"prompt token count of 5 exceeds the limit of 4",
		"Your request exceeded model token limit: 5 (requested: 6)",
		"Prompt has 5 tokens, but the configured context size is 4 tokens",
		"Prompt contains 5 tokens and is too large for model with 4 maximum context length",
		"Range of input length should be [1, 5]",
		"context_length_exceeded",
		"This operation was aborted",
	])("would do no better after %j", async (error) => {
		expect(await afterError(error)).toBe("settle");
	});

	test("is told of the failure before it in few words", () => {
		const sequel = new AnswerCheck({ ...spec, fallbackModels: ["other/two"] }, handClock());
		const step = sequel.fallBack(`503 ${"<p>".repeat(10_000)}`);
		expect(step).toEqual({ type: "falling_back", from: "fake/one", to: "other/two", error: expect.any(String) });
		expect(step?.error.length).toBe(500);
	});

	test("is not asked for what was stopped", async () => {
		expect(await afterError("Request was aborted.", "aborted")).toBe("settle");
	});
});
