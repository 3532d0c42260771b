import { describe, expect, test } from "vitest";
import { newOutbox, step } from "../../src/outbox/outbox.ts";
import type { OutboxInput } from "../../src/outbox/types.ts";
import { deliveryOf, idleDesk, openDesk } from "./fixture.ts";

describe("a settled run", () => {
	test("is stored before it is sent, as one message that starts a turn", () => {
		const desk = idleDesk();
		desk.launch("a");
		expect(desk.settle("a")).toEqual([
			{ type: "store", delivery: deliveryOf("a") },
			{ type: "send", items: [{ id: "a", form: "full" }], startsTurn: true },
		]);
	});

	test("is sent also when its launch was never announced", () => {
		const desk = idleDesk();
		desk.settle("a");
		expect(desk.told()).toEqual(["a"]);
	});

	test("that is reported twice is stored and sent once, before and after the session holds it", () => {
		const desk = idleDesk();
		desk.launch("a");
		desk.settle("a");
		expect(desk.settle("a")).toEqual([]);
		desk.tell({ type: "delivered", ids: ["a"] });
		expect(desk.settle("a")).toEqual([]);
		desk.launch("a");
		expect(desk.settle("a")).toEqual([]);
		expect(desk.state()).toMatchObject({ running: [], waiting: [], sent: [], done: ["a"] });
	});

	test("that the session got some other way is not sent", () => {
		const desk = openDesk();
		desk.launch("a");
		desk.settle("a");
		desk.tell({ type: "delivered", ids: ["a"] });
		desk.session("idle");
		expect(desk.told()).toEqual([]);
	});

	test("of a resumed agent is a delivery of its own beside that of the run before", () => {
		const desk = openDesk();
		desk.launch("a");
		desk.settle("a");
		desk.launch("a-2", { agentId: "a", run: 2 });
		desk.session("idle");
		expect(desk.told()).toEqual(["a"]);
		desk.session("busy");
		desk.settle("a-2");
		desk.session("idle");
		expect(desk.told()).toEqual(["a", "a-2"]);
	});

	test("that was stopped is not told any more when its agent is continued first", () => {
		const desk = idleDesk();
		desk.session("busy");
		const first = { agentId: "a", run: 1 };
		desk.launch("a-1", first);
		desk.settle("a-1", { isStopped: true });
		desk.launch("b-1", { agentId: "b" });
		desk.settle("b-1", { isStopped: true });
		desk.launch("a-2", { agentId: "a", run: 2 });
		expect(desk.actions).toContainEqual({ type: "close", id: "a-1", reason: "silenced" });
		desk.settle("a-2");
		desk.session("idle");
		expect(desk.told()).toEqual(["b-1+a-2"]);
	});

	test("belongs to the turn of its launch, and is as quiet as that", () => {
		const desk = idleDesk();
		desk.launch("a b", { group: "turn 1", isQuiet: true });
		desk.tell({ type: "settled", delivery: deliveryOf("a", { group: "turn 2" }), canBeClaimed: false });
		expect(desk.told()).toEqual([]); // it waits for its sibling
		desk.settle("b");
		expect(desk.messages).toEqual([{ at: 0, ids: ["a", "b"], startsTurn: false }]);

		const apart = idleDesk();
		apart.launch("a");
		apart.launch("b", { group: "turn 1" });
		apart.tell({ type: "settled", delivery: deliveryOf("a", { group: "turn 1" }), canBeClaimed: false });
		expect(apart.told()).toEqual(["a"]); // it was launched on its own
	});

	test("that could not be sent is tried again after a pause, and not once it has arrived", () => {
		const desk = idleDesk();
		desk.settle("a");
		desk.pass(10);
		expect(desk.tell({ type: "unsent", ids: ["a"] })).toEqual([{ type: "wake", at: 1_010 }]);
		desk.pass(5_000);
		desk.tell({ type: "delivered", ids: ["a"] });
		desk.tell({ type: "unsent", ids: ["a"] });
		desk.pass(60_000);
		expect(desk.messages.map(({ at }) => at)).toEqual([0, 1_010]);
	});

	test("that fails to be sent again and again is still one delivery", () => {
		const desk = idleDesk();
		desk.settle("a");
		for (let attempt = 0; attempt < 3; attempt++) {
			desk.tell({ type: "unsent", ids: ["a", "nobody"] });
			desk.pass(1_000);
		}
		expect(desk.told()).toEqual(["a", "a", "a", "a"]);
		expect(desk.state().sent).toHaveLength(1);
	});
});

describe("the hold", () => {
	test("lasts 200 ms, so that a waiter can claim the result", () => {
		const desk = idleDesk();
		desk.settle("a", { canBeClaimed: true });
		desk.pass(199);
		expect(desk.told()).toEqual([]);
		desk.pass(1);
		expect(desk.messages).toEqual([{ at: 200, ids: ["a"], startsTurn: true }]);
	});

	test("does not happen when nobody can claim, and ends when nobody is left who can", () => {
		const desk = idleDesk();
		desk.settle("a", { canBeClaimed: true });
		desk.pass(50);
		desk.tell({ type: "released", id: "a" });
		expect(desk.messages.map(({ at }) => at)).toEqual([50]);
	});

	test("lasts until the last of several readers waits no longer", () => {
		const desk = idleDesk();
		for (let reader = 0; reader < 2; reader++) desk.tell({ type: "expected", id: "a" });
		desk.settle("a");
		desk.pass(50);
		desk.tell({ type: "released", id: "a" });
		desk.pass(50);
		expect(desk.told()).toEqual([]);
		desk.tell({ type: "released", id: "a" });
		expect(desk.messages.map(({ at }) => at)).toEqual([100]);
		expect(desk.state().expected).toEqual([]);
	});

	test("a claim names the tool call that holds the result", () => {
		const desk = idleDesk();
		desk.launch("a");
		expect(desk.tell({ type: "claimed", id: "a", callId: "call-1" })).toContainEqual({
			type: "close",
			id: "a",
			reason: "claimed",
			callId: "call-1",
		});
	});

	test("a claim within it cancels the delivery, for good, and the timer", () => {
		const desk = idleDesk();
		desk.settle("a", { canBeClaimed: true });
		desk.pass(100);
		expect(desk.claim("a")).toEqual([{ type: "close", id: "a", reason: "claimed" }, { type: "sleep" }]);
		expect(desk.settle("a")).toEqual([]);
		desk.pass(60_000);
		expect(desk.told()).toEqual([]);
	});

	test("a claim after it still cancels what was not sent yet", () => {
		const desk = openDesk();
		desk.settle("a", { canBeClaimed: true });
		desk.pass(5_000);
		desk.claim("a");
		desk.session("idle");
		expect(desk.told()).toEqual([]);
	});

	test("a claim while the run goes on means that its end is not told", () => {
		const desk = idleDesk();
		desk.launch("a");
		expect(desk.claim("a")).toEqual([{ type: "close", id: "a", reason: "claimed" }]);
		expect(desk.settle("a")).toEqual([]);
	});

	test("a claim after the sending, a second one, and one of an unknown run are refused", () => {
		const desk = idleDesk();
		desk.settle("a");
		desk.settle("b", { canBeClaimed: true });
		desk.claim("b");
		for (const id of ["a", "b", "nobody"]) expect(desk.claim(id)).toEqual([{ type: "refuse", id }]);
		expect(desk.told()).toEqual(["a"]);
	});
});

describe("the timer", () => {
	test("is one, set to the exact time, moved when that changes, and gone when nothing waits", () => {
		const desk = idleDesk();
		expect(desk.settle("a", { canBeClaimed: true }).at(-1)).toEqual({ type: "wake", at: 200 });
		desk.pass(50);
		expect(desk.settle("b", { canBeClaimed: true }).map(({ type }) => type)).toEqual(["store"]);
		expect(desk.claim("a").at(-1)).toEqual({ type: "wake", at: 250 });
		expect(desk.session("busy")).toEqual([{ type: "sleep" }]);
		expect(desk.session("idle")).toEqual([{ type: "wake", at: 250 }]);
		expect(desk.claim("b").at(-1)).toEqual({ type: "sleep" });
	});

	test("is not wanted while the session is busy or elsewhere, nor by runs that go on", () => {
		const desk = idleDesk();
		desk.launch("a b", { group: "turn-1" });
		desk.session("busy");
		desk.settle("a", { canBeClaimed: true });
		desk.onBranch("elsewhere");
		desk.session("idle");
		expect(desk.actions.filter(({ type }) => type === "wake")).toEqual([]);
	});

	test("that fires too early is set again", () => {
		const desk = idleDesk();
		desk.settle("a", { canBeClaimed: true });
		desk.pass(199);
		expect(desk.tell({ type: "tick" })).toEqual([{ type: "wake", at: 200 }]);
	});
});

test("an input of a kind this version does not know changes nothing", () => {
	const state = newOutbox();
	const unknown = { type: "teleported", at: 1 } as unknown as OutboxInput;
	expect(step(state, unknown)).toEqual({ state, actions: [] });
});
