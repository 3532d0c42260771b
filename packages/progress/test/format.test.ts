import { expect, test } from "vitest";
import { formatCost, formatCount, formatDuration, formatTokens } from "../src/index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test.each([
	[0, "0s"],
	[40, "0s"],
	[300, "0.3s"],
	[4_800, "4.8s"],
	[14_230, "14.2s"],
	[31 * SECOND, "31s"],
	[59_940, "59.9s"],
	[59_960, "1m"],
	[MINUTE, "1m"],
	[MINUTE + 12 * SECOND, "1m 12s"],
	[3 * MINUTE, "3m"],
	[59 * MINUTE + 59_400, "59m 59s"],
	[59 * MINUTE + 59_600, "1h"],
	[HOUR + 5 * MINUTE, "1h 5m"],
	[23 * HOUR + 59 * MINUTE + 40 * SECOND, "1d"],
	[51 * HOUR, "2d 3h"],
	[400 * 24 * HOUR, "400d"],
	[-5, "0s"],
	[Number.NaN, "0s"],
	[Number.POSITIVE_INFINITY, "∞"],
])("formatDuration(%d) is %s", (ms, expected) => {
	expect(formatDuration(ms)).toBe(expected);
});

test.each([
	[0, "0"],
	[999, "999"],
	[999.6, "1k"],
	[1_000, "1k"],
	[1_049, "1k"],
	[22_812, "22.8k"],
	[999_900, "999.9k"],
	[999_949, "999.9k"],
	[999_950, "1M"],
	[1_234_567, "1.2M"],
	[999_950_000, "1B"],
	[3_400_000_000, "3.4B"],
	[1_234_500_000_000, "1,234.5B"],
	[-1, "0"],
	[Number.NaN, "0"],
	[Number.POSITIVE_INFINITY, "∞"],
])("formatTokens(%d) is %s", (tokens, expected) => {
	expect(formatTokens(tokens)).toBe(expected);
});

test.each([
	[0, undefined, "0 tools"],
	[1, undefined, "1 tool"],
	[4, undefined, "4 tools"],
	[999, undefined, "999 tools"],
	[1_000, undefined, "1,000 tools"],
	[1_234_567, undefined, "1,234,567 tools"],
	[2, "toolboxes", "2 toolboxes"],
	[-3, undefined, "0 tools"],
	[Number.NaN, undefined, "0 tools"],
	[Number.POSITIVE_INFINITY, undefined, "∞ tools"],
])("formatCount(%d, tool, %s) is %s", (count, plural, expected) => {
	expect(formatCount(count, "tool", plural)).toBe(expected);
});

test.each([
	[0, "$0.00"],
	[0.0001, "<$0.001"],
	[0.0005, "$0.001"],
	[0.0123, "$0.012"],
	[0.5, "$0.50"],
	[0.9994, "$0.999"],
	[0.9996, "$1.00"],
	[1.239, "$1.24"],
	[1_234.5, "$1,234.50"],
	[-1, "$0.00"],
	[Number.NaN, "$0.00"],
	[Number.POSITIVE_INFINITY, "$∞"],
])("formatCost(%d) is %s", (dollars, expected) => {
	expect(formatCost(dollars)).toBe(expected);
});
