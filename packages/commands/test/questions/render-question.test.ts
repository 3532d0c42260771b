import { initTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { beforeAll, expect, test } from "vitest";
import { backgroundOf, renderQuestion } from "../../src/questions/questions.ts";

/** Says nothing about colours, so that tests compare words. */
const same = (_: string, text: string) => text;
const plain = { fg: same, bg: same, bold: (text: string) => text } as unknown as Theme;

beforeAll(() => initTheme("dark"));

test("a question is shown as one, with the way to answer it", () => {
	const message = {
		details: {
			questions: [{ agentId: "a1", question: "Which \x1b[31mdoor?", background: "Two doors.\nDefault: left" }],
		},
	};
	const shown = renderQuestion(message, {}, plain).render(80);
	expect(shown.map((line) => line.trim()).filter(Boolean)).toEqual([
		"? Agent a1 asks: Which door?",
		"Two doors.",
		"Default: left",
		"/subagent reply a1 <answer>",
	]);
	for (const details of [undefined, null, 7, { questions: 7 }, { questions: [null, { question: {} }] }])
		expect(() => renderQuestion({ details }, {}, plain).render(9)).not.toThrow();
});

test("a dialog shows context and default, and says what happens without an answer", () => {
	expect(backgroundOf({ question: "Which?" })).toEqual([]);
	expect(backgroundOf({ question: "Which?", context: "Two doors.", defaultAnswer: "left", timeoutMs: 30_000 })).toEqual(
		["Two doors.", "Default: left", "Without an answer in 30s it continues with its default."],
	);
});
