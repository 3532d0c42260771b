import { initTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { beforeAll, expect, test } from "vitest";
import { renderQuestion } from "../../src/questions/questions.ts";

/** Says nothing about colours, so that tests compare words. */
const same = (_: string, text: string) => text;
const plain = { fg: same, bg: same, bold: (text: string) => text } as unknown as Theme;

beforeAll(() => initTheme("dark"));

test("a question is shown as one, with the way to answer it", () => {
	const message = { details: { questions: [{ agentId: "a1", question: "Which \x1b[31mdoor?" }] } };
	const shown = renderQuestion(message, {}, plain).render(80);
	expect(shown.map((line) => line.trim()).filter(Boolean)).toEqual([
		"? Agent a1 asks: Which door?",
		"/subagent reply a1 <answer>",
	]);
	for (const details of [undefined, null, 7, { questions: 7 }, { questions: [null, { question: {} }] }])
		expect(() => renderQuestion({ details }, {}, plain).render(9)).not.toThrow();
});
