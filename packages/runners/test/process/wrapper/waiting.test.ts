import { expect, test } from "vitest";
import type { Dialog } from "../../../../core/src/model/dialog.ts";
import type { AgentAnswered } from "../../../../core/src/model/schema/events.ts";
import { type HandClock, handClock } from "../../../../core/src/testing/index.ts";
import type { ControlLine, WrapperEvent } from "../../../../runs/src/format/lines.ts";
import { Replies } from "../../../src/process/parent/replies.ts";
import { PendingRequests } from "../../../src/process/wrapper/pending-requests.ts";

interface AtDesk {
	desk: PendingRequests;
	clock: HandClock;
	said: (WrapperEvent | AgentAnswered)[];
	/** Something waits. */
	holds: () => number;
	leave(): void;
}

function atDesk({ canSay = true } = {}): AtDesk {
	const clock = handClock();
	const said: (WrapperEvent | AgentAnswered)[] = [];
	let isWatched = true;
	let holds = 0;
	const desk = new PendingRequests({
		clock,
		isWatched: async () => isWatched,
		say: (event) => canSay && said.push(event) > 0,
		hold: () => {
			holds++;
			return () => void holds--;
		},
	});
	const leave = () => {
		isWatched = false;
	};
	return { desk, clock, said, holds: () => holds, leave };
}

/** Lets what is waiting see what has changed. */
async function settle(): Promise<void> {
	for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test("a question waits for its own answer", async () => {
	const { desk, said, clock, holds } = atDesk();
	const answer = desk.ask({ question: "Which?" });
	await settle();
	expect([said, holds()]).toEqual([[{ type: "question", id: "answer-1", question: "Which?" }], 1]);
	desk.deliver({ type: "answer", id: "answer-2", answer: { by: "user", text: "none" } });
	desk.deliver({ type: "pass", id: "answer-1", word: "go" });
	desk.deliver({ type: "answer", id: "answer-1", answer: { by: "session", text: "this" } });
	desk.deliver({ type: "answer", id: "answer-1", answer: { by: "user", text: "that" } });
	expect(await answer).toEqual({ by: "session", text: "this" });
	expect([said.slice(1), holds(), clock.waiting()]).toEqual([
		[{ type: "agent_answered", id: "answer-1", by: "session" }],
		0,
		0,
	]);
});

test.each([
	["the dialog that the extension opened is its answer", {}, { confirmed: true }],
	["other words, which an agent wrote into its log, dismisses it", { message: "Read README.md?" }, undefined],
])("a yes to %s", async (_what, forged, expected) => {
	const { desk } = atDesk();
	const dialog: Dialog = { kind: "confirm", title: "Allow?", message: "rm -rf /", timeoutMs: 5_000 };
	const answer = desk.dialog(dialog, new AbortController().signal);
	const sent: ControlLine[] = [];
	const replies = new Replies({
		ask: undefined,
		askUser: async () => ({ confirmed: true }),
		checkpoint: undefined,
		granted: () => undefined,
		send: async (line) => void sent.push(line),
		clock: handClock(),
		report: () => undefined,
	});
	replies.goLive(new Set());
	const read = JSON.parse(JSON.stringify({ ...dialog, ...forged })) as object;
	replies.hear({ type: "question", at: 1, id: "dialog-1", question: "Allow?", dialog: read });
	await settle();
	for (const line of sent) if (line.type === "dialog") desk.deliver(line);
	expect(await answer).toEqual(expected);
});

test("a question is over when whoever watched has left", async () => {
	const { desk, said, clock, leave } = atDesk();
	const answer = desk.ask({ question: "Which?" });
	await settle();
	clock.advance(2_000);
	await settle();
	leave();
	clock.advance(2_000);
	expect(await answer).toMatchObject({ by: "nobody" });
	expect(said.at(-1)).toEqual({ type: "question_over", id: "answer-1" });
	expect(clock.waiting()).toBe(0);
});

test("nobody is told of a question that nobody can be told of", async () => {
	const { desk, said } = atDesk({ canSay: false });
	expect(await desk.ask({ question: "Which?", defaultAnswer: "this" })).toEqual({
		by: "default",
		text: "this",
		why: "absent",
	});
	expect(await desk.checkpoint()).toBeUndefined();
	expect(said).toEqual([]);
});

test("a checkpoint waits for its word as long as somebody watches", async () => {
	const { desk, clock, leave } = atDesk();
	const passed = desk.checkpoint();
	await settle();
	desk.deliver({ type: "pass", id: "pass-1", word: "end" });
	expect(await passed).toMatchObject({ word: "end" });
	const left = desk.checkpoint();
	await settle();
	leave();
	clock.advance(2_000);
	expect(await left).toBeUndefined();
});
