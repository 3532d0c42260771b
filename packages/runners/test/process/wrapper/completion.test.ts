import type { ChildEvent } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import { handClock } from "../../../../core/src/testing/index.ts";
import { Completion, GRACE_MS, IDLE_TIMEOUT_MS } from "../../../src/process/wrapper/completion.ts";

const answer: ChildEvent = { type: "assistant_text", text: "Done.", stopReason: "stop" };
const toolUse: ChildEvent = { type: "assistant_text", text: "", stopReason: "toolUse" };
const failure: ChildEvent = { type: "assistant_text", text: "", stopReason: "error", error: "overloaded" };
const usage: ChildEvent = { type: "usage", usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } };
const turn: ChildEvent = { type: "turn" };
const idle: ChildEvent = { type: "idle" };
const call: ChildEvent = { type: "tool_call", tool: "ls", args: {} };
const retrying: ChildEvent = { type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 60_000, error: "overloaded" };
const compacting: ChildEvent = { type: "compacting" };
const compacted: ChildEvent = { type: "compacted", ok: true };

function listening(...events: ChildEvent[]) {
	const clock = handClock();
	let done = 0;
	const completion = new Completion(clock, () => void done++);
	for (const event of events) completion.hear(event);
	return { clock, completion, done: () => done };
}

describe("a pi that does not say when it is idle", () => {
	test.each([
		["an answer", [answer]],
		["an answer with its figures", [answer, usage, turn]],
		["a failure", [failure]],
		["an answer and a compaction that ended", [answer, compacting, compacted]],
	])("is done a moment after %s", (_what, events) => {
		const { clock, done } = listening(...events);
		clock.advance(GRACE_MS - 1);
		expect(done()).toBe(0);
		clock.advance(1);
		expect(done()).toBe(1);
		clock.advance(IDLE_TIMEOUT_MS);
		expect(done()).toBe(1);
	});

	test.each([
		["a tool is called", [answer, call]],
		["it says that it calls one", [answer, toolUse]],
		["the request is made again", [failure, retrying]],
		["its context is shortened", [answer, compacting]],
		["it only began to", [toolUse, usage, turn]],
		["a message has no reason to stop", [{ type: "assistant_text", text: "Hm." } as const]],
	])("is not done when %s", (_what, events) => {
		const { clock, done } = listening(...events);
		clock.advance(10 * IDLE_TIMEOUT_MS);
		expect(done()).toBe(0);
	});

	test("has its moment anew with each answer", () => {
		const { clock, completion, done } = listening(answer);
		clock.advance(GRACE_MS - 1);
		completion.hear(call);
		completion.hear(answer);
		clock.advance(GRACE_MS - 1);
		expect(done()).toBe(0);
		clock.advance(1);
		expect(done()).toBe(1);
	});
});

describe("a pi that says when it is idle", () => {
	test("is done only then, not with its answer", () => {
		const { clock, completion, done } = listening();
		completion.expectIdle();
		completion.hear(answer);
		clock.advance(IDLE_TIMEOUT_MS - 1);
		expect(done()).toBe(0);
		completion.hear(idle);
		clock.advance(GRACE_MS);
		expect(done()).toBe(1);
	});

	test("is done after a long time all the same, should something in it hang", () => {
		const { clock, completion, done } = listening();
		completion.expectIdle();
		completion.hear(answer);
		clock.advance(IDLE_TIMEOUT_MS);
		expect(done()).toBe(1);
	});

	test("is done at once when it confirms that nothing is under way", () => {
		const { completion, done } = listening(answer, idle);
		completion.confirm();
		expect(done()).toBe(1);
	});

	test("is not done when something follows, and a confirmation that comes late counts for nothing", () => {
		const { clock, completion, done } = listening(answer, idle);
		completion.goOn();
		completion.confirm();
		clock.advance(10 * IDLE_TIMEOUT_MS);
		expect(done()).toBe(0);
		expect(completion.hasAnswered).toBe(false);
	});
});

test("an answer is an answer, should the process end now; one that is being retried is none", () => {
	expect([[answer], [answer, idle], [failure], [failure, retrying], [toolUse], []].map(hasAnswered)).toEqual([
		true,
		true,
		true,
		false,
		false,
		false,
	]);
});

test("nobody is told when nobody wants to know any more", () => {
	const { clock, completion, done } = listening(answer, idle);
	completion.close();
	completion.confirm();
	clock.advance(10 * IDLE_TIMEOUT_MS);
	expect([done(), clock.waiting()]).toEqual([0, 0]);
});

function hasAnswered(events: readonly ChildEvent[]): boolean {
	return listening(...events).completion.hasAnswered;
}
