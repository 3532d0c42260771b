import fc from "fast-check";
import { expect, test } from "vitest";
import { isReply, replyChannel, requestChannels } from "../src/index.ts";

test("an answer arrives on the channel of its request", () => {
	expect(requestChannels.spawn).toBe("subagents:rpc:spawn");
	expect(replyChannel("spawn", "r1")).toBe("subagents:rpc:spawn:reply:r1");
});

test.each([
	[{ success: true }, true],
	[{ success: true, data: { id: "a1" } }, true],
	[{ success: false, error: "Agent not found" }, true],
	[{ success: false }, false],
	[{ success: "yes" }, false],
	[undefined, false],
	[null, false],
	["success", false],
])("%j is a reply: %s", (value, expected) => {
	expect(isReply(value)).toBe(expected);
});

test("no value from the bus makes the check throw", () => {
	fc.assert(fc.property(fc.anything(), (value) => typeof isReply(value) === "boolean"));
});
