import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChildEvent, type DescribeOptions, describe, describeAll, type Memory } from "../src/index.ts";
import { hostileText, UNCLEAN } from "./fixtures/arbitraries.ts";

const anyEvent = fc.oneof(
	fc.record({
		type: fc.constant("tool_call"),
		callId: hostileText,
		tool: hostileText,
		args: fc.dictionary(fc.string(), fc.jsonValue()),
	}),
	fc.record({
		type: fc.constant("tool_call"),
		tool: fc.constantFrom("read", "bash", "grep", "ls", "__proto__"),
		args: fc.record({ path: hostileText, command: hostileText, pattern: hostileText }, { requiredKeys: [] }),
	}),
	fc.record({ type: fc.constant("tool_result"), tool: fc.constantFrom("read", "bash", "ls"), isError: fc.boolean() }),
	fc.record({ type: fc.constant("assistant_text"), text: hostileText, error: hostileText }),
	fc.record({ type: fc.constant("retrying"), attempt: fc.jsonValue(), delayMs: fc.jsonValue(), error: hostileText }),
	fc.record({
		type: fc.constantFrom(
			"assistant_text",
			"tool_call",
			"tool_result",
			"usage",
			"turn",
			"compacted",
			"retrying",
			"idle",
		),
		text: fc.jsonValue(),
		tool: fc.jsonValue(),
		args: fc.jsonValue(),
		callId: fc.jsonValue(),
	}),
	fc.jsonValue(),
) as fc.Arbitrary<ChildEvent>;

test("whatever comes, lines are clean and short and the memory is small plain JSON", () => {
	const options = fc.constantFrom<DescribeOptions | undefined>(
		undefined,
		{ maxLength: 20 },
		{ phrases: { read: { call: "\x1b{path}" } } },
	);
	fc.assert(
		fc.property(fc.array(anyEvent, { maxLength: 100 }), options, (events, options) => {
			let memory: Memory | undefined;
			for (const event of events) {
				const description = describe(memory, event, options);
				memory = description.memory;
				if (description.line === undefined) continue;
				expect(description.line).not.toMatch(UNCLEAN);
				expect(description.line.trim()).not.toBe("");
				expect(description.line.length).toBeLessThanOrEqual(options?.maxLength ?? 400);
			}
			const stored = JSON.stringify(memory);
			expect(memory?.pending.length ?? 0).toBeLessThanOrEqual(64);
			expect(stored?.length ?? 0).toBeLessThan(64 * 4_000);
			if (stored) expect(JSON.parse(stored)).toEqual(memory);
		}),
		{ numRuns: 500 },
	);
});

test("describing leaves its input alone and depends on nothing else", () => {
	fc.assert(
		fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
			const before = structuredClone(events);
			const lines = describeAll(events);
			expect(events).toEqual(before);
			expect(describeAll(events)).toEqual(lines);
		}),
	);
});
