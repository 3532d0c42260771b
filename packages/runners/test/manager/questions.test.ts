import { unfenced } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import type { AskedQuestion, Audience } from "../../../core/src/index.ts";
import { replyOf } from "../../../core/src/model/question-text.ts";
import { spec } from "../../../core/test/fixtures/events.ts";
import { codeOf, setUp } from "../../../core/test/fixtures/manager.ts";
import { parseAnswer } from "../../src/process/pi/tunnel.ts";

const everybody: Audience = { sessionCanAnswer: () => true, userCanAnswer: () => true };
const onlyUser: Audience = { sessionCanAnswer: () => false, userCanAnswer: () => true };

function world(audience?: Audience) {
	const asked: AskedQuestion[] = [];
	return { ...setUp({ ...(audience ? { audience } : {}), onQuestion: (question) => asked.push(question) }), asked };
}

describe("a question", () => {
	test("makes the agent wait, lends its slot, and ends with the answer", async () => {
		const { manager, spawn, asked } = world(everybody);
		const agent = spawn();
		const answer = manager.ask(agent.id, { question: "Which?", context: "left or right" });
		expect(agent.record()).toMatchObject({ status: "waiting", question: "Which?" });
		expect(manager.slots()).toMatchObject({ running: 0, lent: 1 });
		expect(asked).toEqual([
			{ question: "Which?", context: "left or right", agentId: agent.id, addressee: { who: "session" } },
		]);
		expect(manager.questions()).toEqual(asked);
		manager.answer(agent.id, "left", "session");
		expect(await answer).toEqual({ by: "session", text: "left" });
		expect(agent.record()).toMatchObject({ status: "running" });
		expect(manager.questions()).toEqual([]);
		expect(manager.slots()).toMatchObject({ running: 1, lent: 0 });
	});

	test("for a person passes by everyone else", async () => {
		const { manager, spawn, asked } = world(everybody);
		void manager.ask(spawn().id, { question: "Which?", isForUser: true });
		expect(asked[0]?.addressee).toEqual({ who: "user" });
		const alone = world({ sessionCanAnswer: () => true, userCanAnswer: () => false });
		const question = { question: "Which?", isForUser: true, defaultAnswer: "left" };
		expect(await alone.manager.ask(alone.spawn().id, question)).toEqual({
			by: "default",
			text: "left",
			why: "absent",
		});
	});

	test("that the session left open goes to the user, or ends if there is none", async () => {
		const { manager, spawn, asked } = world(everybody);
		const agent = spawn();
		const answer = manager.ask(agent.id, { question: "Which?" });
		for (const question of manager.questions()) manager.passToUser(question);
		expect(asked.map(({ addressee }) => addressee.who)).toEqual(["session", "user"]);
		for (const question of asked.slice(0, 1)) manager.passToUser(question); // it is no longer that question
		expect(asked).toHaveLength(2);
		manager.answer(agent.id, "left", "user");
		expect(await answer).toEqual({ by: "user", text: "left" });

		const alone = world({ sessionCanAnswer: () => true, userCanAnswer: () => false });
		const unheard = alone.manager.ask(alone.spawn().id, { question: "Which?" });
		for (const question of alone.manager.questions()) alone.manager.passToUser(question);
		expect(await unheard).toEqual({ by: "nobody", why: "absent" });
	});

	test("is one at a time, and only of an agent that lives", () => {
		const { manager, spawn } = world(everybody);
		const agent = spawn();
		void manager.ask(agent.id, { question: "Which?" });
		expect(codeOf(() => manager.ask(agent.id, { question: "And?" }))).toBe("wrong_state");
		expect(codeOf(() => manager.answer(spawn().id, "x", "user"))).toBe("wrong_state");
	});

	test("ends with nobody when the agent is stopped, and the stop is clean", async () => {
		const { manager, clock, spawn } = world(everybody);
		const agent = spawn();
		const answer = manager.ask(agent.id, { question: "Which?", timeoutMs: 60_000 });
		manager.abort(agent.id, { by: "user" });
		expect(await answer).toEqual({ by: "nobody" });
		expect(agent.record()).toMatchObject({ status: "aborted", outcome: { status: "aborted", by: "user" } });
		expect([manager.questions(), clock.waiting()]).toEqual([[], 0]);
		expect(manager.slots()).toMatchObject({ running: 0, lent: 0 });
	});

	test("that is given up by who asked leaves nothing behind", async () => {
		const { manager, spawn } = world(everybody);
		const agent = spawn();
		const patience = new AbortController();
		const answer = manager.ask(agent.id, { question: "Which?" }, patience.signal);
		patience.abort();
		expect(await answer).toEqual({ by: "nobody" });
		expect(agent.status()).toBe("running");
	});

	test("without an answer in time takes the default, or nobody", async () => {
		const { manager, clock, spawn } = world(everybody);
		const [careful, careless] = [spawn(), spawn()];
		const withDefault = manager.ask(careful.id, { question: "Which?", defaultAnswer: "left", timeoutMs: 1_000 });
		const without = manager.ask(careless.id, { question: "Which?", timeoutMs: 1_000 });
		clock.advance(1_000);
		expect([await withDefault, await without]).toEqual([
			{ by: "default", text: "left", why: "timeout" },
			{ by: "nobody", why: "timeout" },
		]);
	});
});

describe("who answers", () => {
	test("the session that launched it, if it can take a turn; else the user; else nobody, at once", async () => {
		const cases: [Audience | undefined, unknown][] = [
			[everybody, { who: "session" }],
			[onlyUser, { who: "user" }],
		];
		for (const [audience, addressee] of cases) {
			const { manager, spawn, asked } = world(audience);
			void manager.ask(spawn().id, { question: "Which?" });
			expect(asked[0]?.addressee).toEqual(addressee);
		}
		const { manager, spawn, asked } = world();
		expect(await manager.ask(spawn().id, { question: "Which?" })).toEqual({ by: "nobody", why: "absent" });
		expect(await manager.ask(spawn().id, { question: "Which?", defaultAnswer: "left" })).toEqual({
			by: "default",
			text: "left",
			why: "absent",
		});
		expect(asked).toEqual([]);
	});

	test("the nearest agent above it that is not blocked", () => {
		const { manager, runner, spawn, asked } = world(everybody);
		const root = spawn({ subagents: "*" });
		const child = manager.scope(root.id).spawn({ ...spec, subagents: "*" });
		const grandchild = manager.scope(child.id).spawn(spec, { isBackground: true });
		void manager.ask(grandchild.id, { question: "Which?" });
		expect(asked[0]?.addressee).toEqual({ who: "agent", agentId: child.id });
		const [told = ""] = runner.runs.find((run) => run.spec.agentId === child.id)?.steers ?? [];
		expect(unfenced(told)).toBe(
			`Agent ${grandchild.id}, which you launched, asks:\nWhich?\nAnswer it with reply_subagent.`,
		);
		expect(told).toMatch(/<(question-\w{12})>\nWhich\?\n<\/\1>/);
		manager.scope(child.id).answer(grandchild.id, "left");
		void manager.scope(child.id).wait(grandchild.id);
		void manager.ask(grandchild.id, { question: "And now?" });
		expect(asked[1]?.addressee).toEqual({ who: "agent", agentId: root.id });
	});

	test("with every agent above it blocked, the question goes on to the session or the user", () => {
		const { manager, spawn, asked } = world(onlyUser);
		const root = spawn({ subagents: "*" });
		const child = manager.scope(root.id).spawn(spec);
		void manager.scope(root.id).wait(child.id);
		void manager.ask(child.id, { question: "Which?" });
		expect(asked[0]?.addressee).toEqual({ who: "user" });
	});

	test("an agent that can no longer answer is not waited for: the question goes on, or ends", async () => {
		const { manager, spawn, asked, heard } = world(onlyUser);
		const root = spawn({ subagents: "*" });
		const child = manager.scope(root.id).spawn(spec, { isBackground: true });
		void manager.ask(child.id, { question: "Which?" });
		expect(asked[0]?.addressee).toEqual({ who: "agent", agentId: root.id });
		void manager.scope(root.id).wait(child.id);
		expect(asked[1]).toMatchObject({ question: "Which?", addressee: { who: "user" } });

		const alone = world();
		const parent = alone.spawn({ subagents: "*" });
		const orphan = alone.manager.scope(parent.id).spawn(spec, { isBackground: true });
		const answer = alone.manager.ask(orphan.id, { question: "Which?", defaultAnswer: "left" });
		parent.run.answer("I am done.");
		await heard();
		expect(await answer).toEqual({ by: "default", text: "left", why: "absent" });
	});
});

test.each([
	[
		{ by: "nobody", why: "dismissed" },
		"The user read your question and dismissed it without an answer. Decide yourself",
	],
	[{ by: "nobody", why: "timeout" }, "No answer in time. Decide yourself"],
	[{ by: "nobody", why: "absent" }, "No one can answer now. Decide yourself"],
	[{ by: "default", text: "red", why: "dismissed" }, "dismissed it without an answer. Continue with your default: red"],
	[{ by: "default", text: "red", why: "absent" }, "No one can answer now. Continue with your default: red"],
	[{ by: "default", text: "red" }, "No answer in time. Continue with your default: red"],
] as const)("the child learns the truth about %o", (answer, text) => {
	expect(replyOf(answer)).toContain(text);
	expect(parseAnswer(JSON.stringify(answer))).toEqual(answer); // also in another process
});

test("a user who dismisses a question is not a user who is not there", async () => {
	const { manager, spawn } = world(onlyUser);
	const agent = spawn();
	const answer = manager.ask(agent.id, { question: "Which?" });
	manager.decline(agent.id);
	expect(await answer).toEqual({ by: "nobody", why: "dismissed" });
});
