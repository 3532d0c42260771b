import { describe, expect, test } from "vitest";
import { answerTo, dialogIn } from "../../src/model/dialog.ts";

describe("a dialog from another process or machine", () => {
	test.each([
		{ kind: "select", title: "Which?", options: ["a", "b"] },
		{ kind: "confirm", title: "Sure?", message: "Really?", timeoutMs: 5_000 },
		{ kind: "input", title: "Why?", placeholder: "because" },
		{ kind: "editor", title: "Edit", prefill: "draft" },
	])("is taken as it is: %j", (dialog) => {
		expect(dialogIn(dialog)).toEqual(dialog);
	});

	test("has no more fields than we know, and no time that is none", () => {
		const said = { kind: "input", title: "Why?", timeoutMs: -1, placeholder: 7, signal: "x", title2: "y" };
		expect(dialogIn(said)).toEqual({ kind: "input", title: "Why?" });
	});

	test.each([
		null,
		"Sure?",
		[],
		{ kind: "custom", title: "x" },
		{ kind: "confirm" },
		{ kind: "select", title: "Which?" },
		{ kind: "select", title: "Which?", options: ["a", 7] },
		{ kind: "select", title: "Which?", options: Array.from({ length: 1_001 }, String) },
		{ kind: "editor", title: "Edit", prefill: "x".repeat(200_001) },
	])("is none, or too large to be shown, and is dismissed: case %#", (value) => {
		expect(dialogIn(value)).toBeUndefined();
	});
});

test("an answer counts only if it is one to this dialog", () => {
	const select = { kind: "select", title: "Which?", options: ["a", "b"] } as const;
	const confirm = { kind: "confirm", title: "Sure?", message: "" } as const;
	expect(answerTo(select, { choice: 1 })).toEqual({ choice: 1 });
	for (const forged of [{ choice: 2 }, { choice: -1 }, { choice: 0.5 }, { choice: "0" }, { text: "a" }, undefined])
		expect(answerTo(select, forged)).toBeUndefined();
	expect(answerTo(confirm, { confirmed: true })).toEqual({ confirmed: true });
	for (const forged of [{ confirmed: "true" }, { confirmed: 1 }, { text: "yes" }, { choice: 0 }])
		expect(answerTo(confirm, forged)).toBeUndefined();
});
