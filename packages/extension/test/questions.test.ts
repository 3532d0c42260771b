import { Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import type { Host } from "../src/host.ts";
import { createQuestions } from "../src/questions.ts";

const spec: RunSpec = {
	type: "scout",
	description: "look",
	task: "Look.",
	cwd: "/project",
	runner: "session",
	model: "fake/one",
	tools: [],
	limits: {},
	origins: {},
	warnings: [],
};
const heard = () => new Promise<void>((resolve) => setImmediate(resolve));

test("one dialog at a time, and an answer never reaches a question that was not shown", async () => {
	const shown: string[] = [];
	const answers: ((text: string | undefined) => void)[] = [];
	const input = (title: string) => {
		shown.push(title);
		return new Promise<string | undefined>((resolve) => answers.push(resolve));
	};
	const host = { session: () => ({ hasUI: true, ui: { input } }), tell: () => undefined } as unknown as Host;
	const questions = createQuestions(host);
	const clock = handClock();
	let ids = 0;
	const manager: Manager = new Manager({
		runners: { session: fakeRunner() },
		clock,
		newId: () => `a${++ids}`,
		audience: questions.audience,
		onQuestion: (question) => questions.ask(question, manager),
	});
	const [one, two] = [manager.spawn(spec), manager.spawn(spec)];

	const first = manager.ask(one.id, { question: "Which door?" });
	const harmless = manager.ask(two.id, { question: "Delete the old branch?", defaultAnswer: "no", timeoutMs: 1_000 });
	await heard();
	expect(shown).toEqual(["Agent scout (a1) asks: Which door?"]);
	clock.advance(1_000);
	expect(await harmless).toEqual({ by: "default", text: "no" });
	const harmful = manager.ask(two.id, { question: "Delete the database?" });

	answers[0]?.("the left one");
	expect(await first).toEqual({ by: "user", text: "the left one" });
	await heard();
	expect(shown.slice(1)).toEqual(["Agent scout (a2) asks: Delete the database?"]);
	answers[1]?.("never");
	expect(await harmful).toEqual({ by: "user", text: "never" });
});
