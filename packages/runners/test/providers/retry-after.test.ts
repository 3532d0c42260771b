import type { ChildEvent } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { RetryAfter } from "../../../core/src/conversation/retry-after.ts";
import { countAsAgent } from "../../src/providers/initiator.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const FAILED: ChildEvent = { type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 1, error: "429" };

test.each([
	["seconds", 429, { "retry-after": "15" }, 15_000],
	["a date", 503, { "Retry-After": "Thu, 01 Jan 2026 00:00:20 GMT" }, 20_000],
	["milliseconds, which go first", 429, { "retry-after": "15", "retry-after-ms": "1500.2" }, 1_501],
	["a date that has passed", 429, { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
	["more than a day", 429, { "retry-after": "999999999" }, 86_400_000],
	["nonsense", 429, { "retry-after": "soon" }, undefined],
	["nothing", 429, {}, undefined],
	["a good response", 200, { "retry-after": "15" }, undefined],
])("a response that states %s", (_what, status, headers, ms) => {
	const retryAfter = new RetryAfter();
	retryAfter.hear({ status, headers }, NOW);
	expect(retryAfter.ms).toBe(ms);
	expect(retryAfter.addTo(FAILED)).toEqual(ms === undefined ? FAILED : { ...FAILED, retryAfterMs: ms });
});

test("only failures tell it, and only those of the request that it was said about", () => {
	const retryAfter = new RetryAfter();
	retryAfter.note(2_000);
	const fine: ChildEvent = { type: "assistant_text", text: "Hello." };
	const bad: ChildEvent = { type: "assistant_text", text: "", error: "429" };
	expect([fine, bad].map((event) => retryAfter.addTo(event))).toEqual([fine, { ...bad, retryAfterMs: 2_000 }]);
	retryAfter.forget();
	expect(retryAfter.addTo(bad)).toEqual(bad);
});

test.each([["5"], [-1], [Number.NaN], [undefined], [null], [{}]])("%j that another process states is nothing", (ms) => {
	const retryAfter = new RetryAfter();
	retryAfter.note(ms);
	expect(retryAfter.ms).toBeUndefined();
});

test("a request to GitHub Copilot has one header that says who made it; those to others stay as they are", () => {
	const copilot = { "x-initiator": "user", accept: "*/*" };
	countAsAgent("github-copilot", copilot);
	expect(copilot).toEqual({ "X-Initiator": "agent", accept: "*/*" });
	const other = { "x-initiator": "user" };
	countAsAgent("openai", other);
	countAsAgent(undefined, other);
	expect(other).toEqual({ "x-initiator": "user" });
});
