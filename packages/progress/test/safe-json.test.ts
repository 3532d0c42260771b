import { expect, test } from "vitest";
import { safeJson } from "../src/index.ts";

const value = {
	"key \u009b2J": ["\u001b[2J", "\u009b31m", "\u0085", "\u007f", "\u202e evil", "\u2066", "\ufeff", "\u2028"],
	tags: "\u{e0041}\u{e0042}",
	kept: 'ä 漢 😀 \u{1f468}\u200d\u{1f469} "quoted" \\u009b',
	lone: "\ud800",
	nothing: undefined,
};

test("a terminal finds nothing to obey in it, and parsed it is the same value", () => {
	for (const json of [safeJson(value), safeJson(value, "\t")]) {
		expect(json.replaceAll(/[\t\n]/g, "")).not.toMatch(
			/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff]|\u{e0041}/u,
		);
		expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
	}
	expect(safeJson(value)).toContain("ä 漢 😀");
});

test("what has no JSON is null", () => {
	expect(safeJson(undefined)).toBe("null");
});
