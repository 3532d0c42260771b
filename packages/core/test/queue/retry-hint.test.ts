import { describe, expect, test } from "vitest";
import { isRateLimit, rateLimitOf, retryAfterMs, retryAfterOf } from "../../src/queue/retry-hint.ts";

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe("a Retry-After header", () => {
	test.each<[string | number | null | undefined, number | undefined]>([
		["20", 20_000],
		[" 1.5 ", 1_500],
		["0", 0],
		[7, 7_000],
		["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
		["Thursday, 01-Jan-26 12:00:30 GMT", 30_000],
		["Thu Jan  1 12:00:30 2026 GMT", 30_000],
		["2026-01-01T12:01:00Z", 60_000],
		["Thu, 01 Jan 2026 11:00:00 GMT", 0],
		["", undefined],
		[undefined, undefined],
		[null, undefined],
		["-5", undefined],
		[Number.NaN, undefined],
		[Number.POSITIVE_INFINITY, undefined],
		["soon", undefined],
		["5 apples", undefined],
		["20, 30", undefined],
		["Thu, something else", undefined],
		["9".repeat(400), undefined],
	])("%j is %s ms", (value, expected) => {
		expect(retryAfterMs(value, now)).toBe(expected);
	});

	test.each<[Record<string, string | string[] | undefined>, number | undefined]>([
		[{ "retry-after": "20" }, 20_000],
		[{ "Retry-After": ["3", "9"] }, 3_000],
		[{ "retry-after": "2", "retry-after-ms": "1500" }, 1_500],
		[{ "retry-after": "2", "retry-after-ms": "none" }, 2_000],
		[{ "retry-after": undefined }, undefined],
		[{}, undefined],
	])("is found among %j", (headers, expected) => {
		expect(retryAfterOf(headers, now)).toBe(expected);
	});
});

describe("the text of an error", () => {
	test.each<[string, number | undefined]>([
		["429 Too Many Requests: please try again in 20s", 20_000],
		[
			"Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1.2s.",
			1_200,
		],
		["Rate limit reached on requests per day. Please try again in 7m12s. Visit the site to learn more.", 432_000],
		["rate_limit_exceeded: try again in 1h2m3.5s", 3_723_500],
		["Rate limit exceeded, please try again in 250ms", 250],
		["429 RESOURCE_EXHAUSTED. Please retry in 20.5s.", 20_500],
		['429 {"error":{"details":[{"@type":"RetryInfo","retryDelay":"33s"}]}}', 33_000],
		["Too many requests. Retry after 2 minutes", 120_000],
		["Too many requests, please wait for 1 minute 30 seconds.", 90_000],
		["429: retry-after: 12, request-id: 7", 12_000],
		['429 {"retry_after": 4.5}', 4_500],
		['429 {"retry-after-ms":"800"}', 800],
		["429 retry-after: Thu, 01 Jan 2026 12:00:30 GMT, request-id: 7", 30_000],
		["Server requested 120s retry delay (max: 60s). 429 slow down", 120_000],
		["ThrottlingException: Too many requests, wait 3 tries or try again in 5 seconds", 5_000],
		["Too many requests, wait 1 minute 429 errors", 60_000],
		["429 Too Many Requests", undefined],
		["429 try again in 3 requests", undefined],
		["The file is locked, try again in 20s", undefined],
		["insufficient_quota (429): try again in 20s", undefined],
		["", undefined],
	])("%j asks for %s ms", (text, expected) => {
		expect(rateLimitOf(text, now)).toBe(expected);
	});

	test("tells a limit on speed from an empty account and from other failures", () => {
		expect(isRateLimit("429 Too Many Requests")).toBe(true);
		expect(isRateLimit('{"type":"rate_limit_error"}')).toBe(true);
		expect(isRateLimit("You exceeded your current quota: insufficient_quota")).toBe(false);
		expect(isRateLimit("500 internal error")).toBe(false);
	});

	test("that is long and hostile is read only so far", () => {
		const text = `429 ${"retry after 1 1 1 1 ".repeat(100_000)}`;
		expect(rateLimitOf(`429 ${"x".repeat(1_000_000)} try again in 5s`, now)).toBeUndefined();
		expect(rateLimitOf(text, now)).toBe(1_000);
	});
});
