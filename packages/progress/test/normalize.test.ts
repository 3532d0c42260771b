import fc from "fast-check";
import { expect, test } from "vitest";
import { blockDelta, type ChildEvent, normalize, textDelta } from "../src/index.ts";

const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, totalTokens: 20, cost: { input: 1, total: 0.25 } };
const answer = {
	role: "assistant",
	content: [{ type: "text", text: "Done." }],
	provider: "anthropic",
	model: "claude",
	stopReason: "stop",
	usage,
};
const said = { type: "assistant_text", text: "Done.", stopReason: "stop", model: "anthropic/claude" } as const;
const cost: Extract<ChildEvent, { type: "usage" }> = {
	type: "usage",
	usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, cost: 0.25 },
};
const toolCall = { type: "toolCall", id: "1", name: "read", arguments: {} };

test.each<[string, object, ChildEvent[]]>([
	["a message", answer, [said, cost]],
	[
		"text blocks joined, thinking left out",
		{ ...answer, content: [{ type: "thinking", thinking: "Hm" }, ...answer.content, { type: "text", text: " Bye." }] },
		[{ ...said, text: "Done. Bye." }, cost],
	],
	["text that is not in blocks", { ...answer, content: "Done." }, [said, cost]],
	[
		"content of no known shape",
		{ ...answer, content: [null, 7, { type: "text", text: 7 }] },
		[{ ...said, text: "" }, cost],
	],
	[
		"a tool call means toolUse",
		{ ...answer, content: [toolCall] },
		[{ ...said, text: "", stopReason: "toolUse" }, cost],
	],
	[
		"a tool call without a stop reason means toolUse",
		{ ...answer, content: [toolCall], stopReason: undefined },
		[{ ...said, text: "", stopReason: "toolUse" }, cost],
	],
	[
		"an error stays an error even with a tool call",
		{ ...answer, content: [toolCall], stopReason: "error", errorMessage: "529 overloaded" },
		[{ ...said, text: "", stopReason: "error", error: "529 overloaded" }, cost],
	],
	[
		"an abort",
		{ ...answer, content: [], stopReason: "aborted", errorMessage: "Request was aborted" },
		[{ ...said, text: "", stopReason: "aborted", error: "Request was aborted" }, cost],
	],
	[
		"a cost that the provider reported",
		{ ...answer, usage: { ...usage, cost: { total: 0.25, totalFromProvider: true } } },
		[said, { ...cost, usage: { ...cost.usage, costFromProvider: true } }],
	],
	["an error message without a failure is none", { ...answer, errorMessage: "old" }, [said, cost]],
	[
		"the model that answered",
		{ ...answer, responseModel: "claude-x" },
		[{ ...said, model: "anthropic/claude-x" }, cost],
	],
	["a model without a provider", { ...answer, provider: undefined }, [{ ...said, model: "claude" }, cost]],
	["next to nothing", { role: "assistant" }, [{ type: "assistant_text", text: "" }]],
	[
		"impossible figures are zero",
		{ ...answer, usage: { input: -1, output: Number.NaN, cacheRead: Number.POSITIVE_INFINITY, cacheWrite: "2" } },
		[said, { type: "usage", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 } }],
	],
	["another role", { ...answer, role: "user" }, []],
	["a tool result message", { role: "toolResult", toolCallId: "1", content: [], usage }, []],
])("message_end with %s", (_, message, expected) => {
	expect(normalize({ type: "message_end", message })).toStrictEqual(expected);
});

test.each<[object, ChildEvent[]]>([
	[
		{ type: "tool_execution_start", toolCallId: "1", toolName: "read", args: { path: "a" } },
		[{ type: "tool_call", callId: "1", tool: "read", args: { path: "a" } }],
	],
	[
		{ type: "tool_execution_start", toolCallId: "", toolName: "read", args: ["a"] },
		[{ type: "tool_call", tool: "read", args: {} }],
	],
	[{ type: "tool_execution_start" }, [{ type: "tool_call", tool: "", args: {} }]],
	[
		{ type: "tool_execution_end", toolCallId: "1", toolName: "read", result: {}, isError: true },
		[{ type: "tool_result", callId: "1", tool: "read", isError: true }],
	],
	[
		{ type: "tool_execution_end", toolName: "read", isError: "no" },
		[{ type: "tool_result", tool: "read", isError: false }],
	],
	[{ type: "turn_end", message: answer, toolResults: [] }, [{ type: "turn" }]],
	[{ type: "compaction_start", reason: "threshold" }, [{ type: "compacting" }]],
	[{ type: "compaction_end", result: { summary: "" }, aborted: false }, [{ type: "compacted", ok: true }]],
	[
		{ type: "compaction_end", reason: "overflow", result: { tokensBefore: 9_000 }, aborted: false },
		[{ type: "compacted", ok: true, reason: "overflow", tokensBefore: 9_000 }],
	],
	[{ type: "compaction_end", reason: "whim", aborted: true }, [{ type: "compacted", ok: false }]],
	[{ type: "compaction_end", aborted: true }, [{ type: "compacted", ok: false }]],
	[{ type: "compaction_end", aborted: false, errorMessage: "no" }, [{ type: "compacted", ok: false }]],
	[
		{ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "529" },
		[{ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 2000, error: "529" }],
	],
	[{ type: "auto_retry_start" }, [{ type: "retrying", attempt: 0, maxAttempts: 0, delayMs: 0, error: "" }]],
	[{ type: "agent_settled" }, [{ type: "idle" }]],
	[{ type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "D" } }, []],
	[{ type: "tool_execution_update", toolCallId: "1", toolName: "read", args: {} }, []],
	[{ type: "message_start", message: answer }, []],
	[{ type: "agent_end", messages: [answer], willRetry: false }, []],
	[{ type: "session", version: 3 }, []],
	[{ type: "message_end" }, []],
	[{ type: "toString" }, []],
])("%j gives %j", (raw, expected) => {
	expect(normalize(raw)).toStrictEqual(expected);
});

test.each([undefined, null, 1, "agent_settled", [], [{ type: "agent_settled" }]])("%j gives nothing", (raw) => {
	expect(normalize(raw)).toEqual([]);
});

test("a value that throws when read gives nothing", () => {
	const raw = {
		type: "message_end",
		message: {
			role: "assistant",
			get content(): never {
				throw new Error("no");
			},
		},
	};
	expect(normalize(raw)).toEqual([]);
});

test("it never throws, and what it gives is always of the vocabulary", () => {
	const types = [
		"message_end",
		"tool_execution_start",
		"tool_execution_end",
		"turn_end",
		"compaction_end",
		"auto_retry_start",
	];
	const shaped = fc.record(
		{
			type: fc.oneof(fc.constantFrom(...types), fc.string()),
			message: fc.oneof(
				fc.anything(),
				fc.record({ role: fc.constant("assistant"), content: fc.anything(), usage: fc.anything() }),
			),
			toolCallId: fc.anything(),
			toolName: fc.anything(),
			args: fc.anything(),
			isError: fc.anything(),
			delayMs: fc.anything(),
		},
		{ requiredKeys: ["type"] },
	);
	fc.assert(
		fc.property(fc.oneof(fc.anything(), shaped), (raw) => {
			for (const event of normalize(raw)) expect(event.type).toMatch(/^[a-z_]+$/);
		}),
		{ numRuns: 1_000 },
	);
});

test("a block that grows: text and thinking, from their start to their end, and nothing throws", () => {
	const update = (assistantMessageEvent: unknown) => ({ type: "message_update", assistantMessageEvent });
	expect(blockDelta(update({ type: "thinking_start", contentIndex: 2 }))).toEqual({
		kind: "thinking",
		index: 2,
		text: "",
		isStart: true,
	});
	expect(blockDelta(update({ type: "text_delta", contentIndex: 0, delta: "Hel" }))).toEqual({
		kind: "text",
		index: 0,
		text: "Hel",
	});
	expect(blockDelta(update({ type: "text_end", contentIndex: 0, content: "Hello" }))).toMatchObject({ whole: "Hello" });
	expect(blockDelta(update({ type: "text_end", content: {} }))).toMatchObject({ whole: "" });
	for (const other of [update({ type: "toolcall_delta" }), update(null), null, { type: "message_end" }, update([])])
		expect(blockDelta(other)).toBeUndefined();
	fc.assert(fc.property(fc.anything(), (raw) => void blockDelta(update(raw))));
});

test("a message that grows: only pieces of text count, and nothing throws", () => {
	const update = (assistantMessageEvent: unknown) => ({ type: "message_update", assistantMessageEvent });
	expect(textDelta(update({ type: "text_delta", contentIndex: 0, delta: "Hel" }))).toBe("Hel");
	const broken = {
		get type() {
			throw new Error("no");
		},
	};
	const others = [update({ type: "thinking_delta", delta: "Hm" }), update({ type: "text_delta" }), update(null), null];
	for (const other of [...others, broken, { type: "message_end", assistantMessageEvent: { type: "text_delta" } }])
		expect(textDelta(other)).toBe("");
});
