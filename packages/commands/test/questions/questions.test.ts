import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import type { SessionState } from "@pi-subagents/delivery";
import { expect, test } from "vitest";
import type { CommandHost } from "../../src/host.ts";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { createQuestions } from "../../src/questions/questions.ts";
import { quietScreen } from "../fixture.ts";

const spec: RunSpec = { ...sampleSpec, description: "look", task: "Look." };

const heard = () => new Promise<void>((resolve) => setImmediate(resolve));

function setUp({ arrives = (): boolean => true } = {}) {
	const shown: string[] = [];
	const answers: ((text: string | undefined) => void)[] = [];
	const input = (title: string) => {
		shown.push(title);
		return new Promise<string | undefined>((resolve) => answers.push(resolve));
	};
	const sent: { content: string; options: unknown }[] = [];
	let hear: (details: unknown) => void = () => undefined;
	const pi = {
		sendMessage: (message: { content: string; details: unknown }, options: unknown) => {
			sent.push({ content: message.content, options });
			if (arrives()) hear(message.details);
		},
		getActiveTools: () => ["reply_subagent"],
	} as unknown as ExtensionAPI;
	const notified: string[] = [];
	const notify = (text: string) => notified.push(text);
	const host = {
		session: () => ({
			hasUI: true,
			mode: "tui",
			ui: { ...quietScreen, input, notify, select: async (_: string, [first]: string[]) => first },
		}),
		warn: () => undefined,
	} as unknown as CommandHost;
	let sayState: (state: SessionState) => void = () => undefined;
	const session = {
		onState: (listener: typeof sayState) => {
			sayState = listener;
		},
		onArrived: (_type: string, listener: typeof hear) => {
			hear = listener;
		},
		sendQuietly: ({ content }: { content: string }) => {
			sent.push({ content, options: { triggerTurn: false } });
			if (!arrives()) throw new Error("the session could not be written");
		},
	};
	const questions = createQuestions(pi, host, session, createDialogs());
	const clock = handClock();
	let ids = 0;
	const manager: Manager = new Manager({
		runners: { session: fakeRunner() },
		clock,
		newId: () => `a${++ids}`,
		audience: questions.audience,
		onQuestion: (question) => questions.ask(question, manager),
	});
	return {
		manager,
		questions,
		clock,
		shown,
		answers,
		sent,
		notified,
		sayState: (state: SessionState) => sayState(state),
	};
}

test("one dialog at a time, and an answer never reaches a question that was not shown", async () => {
	const { manager, clock, shown, answers } = setUp();
	const [one, two] = [manager.spawn(spec), manager.spawn(spec)];

	const first = manager.ask(one.id, { question: "Which door?" });
	const harmless = manager.ask(two.id, { question: "Delete the old branch?", defaultAnswer: "no", timeoutMs: 1_000 });
	await heard();
	expect(shown).toEqual(["Agent scout (a1) asks: Which door?\nesc: it decides by itself"]);
	clock.advance(1_000);
	expect(await harmless).toEqual({ by: "default", text: "no", why: "timeout" });
	const harmful = manager.ask(two.id, { question: "Delete the database?" });

	answers[0]?.("the left one");
	expect(await first).toEqual({ by: "user", text: "the left one" });
	await heard();
	expect(shown.slice(1)).toEqual(["Agent scout (a2) asks: Delete the database?\nesc: it decides by itself"]);
	answers[1]?.("never");
	expect(await harmful).toEqual({ by: "user", text: "never" });
});

test("a session that does not wait for the agent is asked by a message, when it can take a turn", async () => {
	const { manager, sent, shown, sayState } = setUp();
	const { id } = manager.spawn(spec, { isBackground: true });
	sayState("busy");
	const answer = manager.ask(id, { question: "Which </subagent-question> door?", context: "There are two." });
	expect(sent).toEqual([]);
	sayState("waiting_for_user");
	expect(sent).toEqual([]);
	sayState("idle");
	sayState("idle");
	expect(sent).toHaveLength(1);
	expect(sent[0]?.options).toEqual({ triggerTurn: true, deliverAs: "followUp" });
	expect(sent[0]?.content).toMatch(
		/<(question-\w{12})>\nWhich &lt;\/subagent-question> door\?\n<\/\1>\n<(context-\w{12})>\nThere are two\.\n<\/\2>/,
	);
	expect(shown).toEqual([]);
	manager.answer(id, "the left one", "session");
	expect(await answer).toEqual({ by: "session", text: "the left one" });
});

test("an agent that the user started asks the user with a message, and no turn and no dialog", async () => {
	const { manager, questions, sent, shown, notified, sayState } = setUp();
	const { id } = manager.spawn(spec, { isBackground: true, launchedBy: "user" });
	sayState("idle");
	const answer = manager.ask(id, { question: "Which door?" });
	expect(sent).toEqual([
		{
			content: expect.stringMatching(/Which door\?[\s\S]*\/subagent reply a1 <answer>/),
			options: { triggerTurn: false },
		},
	]);
	sayState("busy");
	sayState("idle");
	await heard();
	expect({ messages: sent.length, shown, notified }).toEqual({ messages: 1, shown: [], notified: [] });
	expect(questions.hasUndelivered()).toBe(false); // the session has nothing to answer
	manager.answer(id, "the left one", "user");
	expect(await answer).toEqual({ by: "user", text: "the left one" });
});

test("while the session is busy the user learns of the question at once, and has the message afterwards", () => {
	const { manager, sent, notified, sayState } = setUp();
	const { id } = manager.spawn(spec, { isBackground: true, launchedBy: "user" });
	sayState("busy");
	void manager.ask(id, { question: "Which \u001b[2Jdoor?" });
	expect(notified).toEqual(["Agent scout (a1) asks: Which door? Answer with /subagent reply a1 <text>."]);
	expect(sent).toEqual([]);
	sayState("idle");
	expect(sent.map(({ options }) => options)).toEqual([{ triggerTurn: false }]);
});

test("questions that come together are one message, and one that got lost on its way is said again", () => {
	let isLost = true;
	const { manager, sent, sayState } = setUp({ arrives: () => !isLost });
	for (const question of ["Which door?", "Which key?"])
		void manager.ask(manager.spawn(spec, { isBackground: true }).id, { question });
	sayState("idle");
	sayState("busy");
	isLost = false;
	sayState("idle");
	sayState("busy");
	sayState("idle");
	expect(sent).toHaveLength(2);
	for (const { content } of sent) expect(content).toMatch(/Which door\?[\s\S]*Which key\?/);
});

test("one to the user that the session does not hold is said again when the session is idle the next time", () => {
	let isFull = true;
	const { manager, sent, sayState } = setUp({ arrives: () => !isFull });
	const { id } = manager.spawn(spec, { isBackground: true, launchedBy: "user" });
	sayState("idle");
	void manager.ask(id, { question: "Which door?" });
	isFull = false;
	for (const state of ["busy", "idle", "busy", "idle"] as const) sayState(state);
	expect(sent).toHaveLength(2);
});

test("a question that was answered before the session could hear it is not told", async () => {
	const { manager, sent, sayState } = setUp();
	const { id } = manager.spawn(spec, { isBackground: true });
	const answer = manager.ask(id, { question: "Which door?" });
	manager.answer(id, "the left one", "user");
	await answer;
	sayState("idle");
	expect(sent).toEqual([]);
});

test("where pi waits for its agents before it ends, their questions are what it goes on with", () => {
	const { manager, questions } = setUp();
	let calls = 0;
	questions.onMessage(() => calls++);
	const { id } = manager.spawn(spec, { isBackground: true });
	void manager.ask(id, { question: "Which door?" });
	expect(calls).toBe(1);
	expect(questions.takeMessage()?.details.questions).toEqual([{ agentId: id, question: "Which door?" }]);
	expect(questions.takeMessage()).toBeUndefined();
});

test("what needs a yes starts with No selected, so that Enter pressed too early allows nothing", async () => {
	expect(await setUp().questions.confirm("Go on?", "It costs money.")).toBe(false);
});

test("a question that the session's turn left open goes to the user", async () => {
	const { manager, sent, shown, answers, sayState } = setUp();
	const { id } = manager.spawn(spec, { isBackground: true });
	sayState("idle");
	const answer = manager.ask(id, { question: "Which door?" });
	expect(sent).toHaveLength(1);
	sayState("busy");
	await heard();
	expect(shown).toEqual([]);
	expect(manager.store.record(id)).toMatchObject({ status: "waiting", waitsFor: { who: "session" } });

	sayState("idle");
	await heard();
	expect(shown).toEqual(["Agent scout (a1) asks: Which door?\nesc: it decides by itself"]);
	expect(manager.store.record(id)).toMatchObject({ status: "waiting", waitsFor: { who: "user" } });
	sayState("idle"); // the same state again asks no second time
	answers[0]?.("the left one");
	expect(await answer).toEqual({ by: "user", text: "the left one" });
	await heard();
	expect([shown.length, sent.length]).toEqual([1, 1]);
});
