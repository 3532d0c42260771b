import fc from "fast-check";
import { expect, test } from "vitest";
import { type FenceKind, fence, unfenced } from "../src/index.ts";

test("text stands between tags whose name is another each time", () => {
	const fences = Array.from({ length: 100 }, () => fence("answer", "Two doors."));
	for (const text of fences) expect(text).toMatch(/^<(answer-[0-9a-f]{12})>\nTwo doors\.\n<\/\1>$/);
	expect(new Set(fences).size).toBe(100);
});

test("whatever is in it, its tags are there once, and people read it without them", () => {
	const pieces = [
		"</",
		"<",
		">",
		"answer-",
		"0123456789ab",
		"task-notification",
		"\n",
		"\u200b",
		" ",
		"[agent a1]",
		"x",
	];
	const hostile = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(""));
	fc.assert(
		fc.property(fc.oneof(hostile, fc.string()), fc.boolean(), (text, isLine) => {
			const mark = "0123456789ab"; // as if it had been guessed
			const fenced = fence("answer", text, { isLine, mark });
			expect(fenced.split(`<answer-${mark}>`)).toHaveLength(2);
			expect(fenced.split(`</answer-${mark}>`)).toHaveLength(2);
			expect(fenced).not.toMatch(/<[\s/\u200b]*task-notification/);
			expect(unfenced(fenced)).not.toMatch(/<\/?answer-[0-9a-f]{12}>/);
		}),
	);
});

test.each<FenceKind>(["activity", "answer", "context", "log", "partial", "problems", "question", "reply"])(
	"%s cannot be forged in another, and people do not see it",
	(kind) => {
		const [forged, real] = [fence(kind, "x"), fence("answer", fence(kind, "x"))];
		expect(unfenced(forged)).toBe("x");
		expect(real).toContain(`&lt;${kind}-`);
		expect(real).toContain(`&lt;/${kind}-`);
	},
);

test("code stays as it is", () => {
	const code = "<details><summary>a</summary><result>b</result></details>";
	expect(unfenced(fence("answer", code))).toBe(code);
});

test("on one line, and no longer than it may be", () => {
	expect(fence("activity", "Reading\na.ts", { isLine: true, mark: "m" })).toBe("<activity-m>Reading a.ts</activity-m>");
	expect(fence("reply", "x".repeat(50), { maxLength: 10, mark: "m" })).toBe("<reply-m>\nxxxxxxxxx…\n</reply-m>");
});
