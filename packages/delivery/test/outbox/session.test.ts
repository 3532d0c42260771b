import { describe, expect, test } from "vitest";
import { deliveryOf, entry, idleDesk, openDesk } from "./fixture.ts";

describe("the session", () => {
	test("gets nothing while it is busy, and what has gathered as one message when it is idle", () => {
		const desk = openDesk();
		desk.onBranch(entry);
		for (const id of ["a", "b", "c"]) desk.settle(id);
		desk.pass(60_000);
		expect(desk.told()).toEqual([]);
		desk.session("idle");
		expect(desk.told()).toEqual(["a+b+c"]);
	});

	test("gets nothing while it waits for the user", () => {
		const desk = idleDesk();
		desk.session("waiting_for_user");
		desk.settle("a");
		desk.settle("b", { kind: "background" });
		desk.pass(600_000);
		expect(desk.told()).toEqual([]);
		desk.session("idle");
		expect(desk.told()).toEqual(["b", "a"]);
	});

	test("gets nothing twice, however often it changes between idle and busy", () => {
		const desk = idleDesk();
		desk.settle("a");
		for (let turn = 0; turn < 20; turn++) {
			desk.session(turn % 2 ? "idle" : "busy");
			desk.session(turn % 3 ? "idle" : "waiting_for_user");
			desk.pass(turn);
		}
		expect(desk.told()).toEqual(["a"]);
	});

	test("gets a message again that is not there after its turn", () => {
		const desk = idleDesk();
		desk.settle("a");
		desk.tell({ type: "session", state: "busy" });
		desk.tell({ type: "session", state: "waiting_for_user" });
		desk.pass(5_000);
		expect(desk.told()).toEqual(["a"]); // the turn may not be over
		desk.tell({ type: "session", state: "idle" });
		desk.pass(1_000);
		expect(desk.messages.map(({ at }) => at)).toEqual([0, 6_000]);
		desk.session("busy");
		desk.session("idle");
		desk.pass(5_000);
		expect(desk.told()).toEqual(["a", "a"]);
	});

	test("has a second to say that a turn began, and what settles meanwhile joins the next message", () => {
		const desk = idleDesk();
		for (const id of ["a", "b", "c"]) {
			desk.settle(id);
			desk.pass(100);
		}
		expect(desk.told()).toEqual(["a"]);
		desk.pass(700);
		expect(desk.messages.at(-1)).toEqual({ at: 1_000, ids: ["b", "c"], startsTurn: true });
	});

	test("that had only a dialog since keeps the pause", () => {
		const desk = idleDesk();
		desk.settle("a");
		desk.session("waiting_for_user");
		desk.settle("b");
		desk.session("idle");
		desk.pass(5_000);
		expect(desk.messages.map(({ at }) => at)).toEqual([0, 1_000]);
	});

	test("that had a turn since is told at once", () => {
		const desk = idleDesk();
		desk.settle("a");
		desk.session("busy");
		desk.settle("b");
		desk.pass(100);
		desk.session("idle");
		expect(desk.messages.map(({ at }) => at)).toEqual([0, 100]);
	});

	test.each([
		["turn", [{ at: 0, ids: ["a"], startsTurn: true }]],
		["message", [{ at: 0, ids: ["a"], startsTurn: false }]],
		["off", []],
	] as const)("with notify %s", (notify, messages) => {
		const desk = idleDesk({ notify });
		desk.settle("a");
		expect(desk.messages).toEqual(messages);
	});

	test("with notify off is never told later either, and the entry that says so is asked for", () => {
		const desk = idleDesk({ notify: "off" });
		expect(desk.settle("a").at(-1)).toEqual({ type: "close", id: "a", reason: "silenced" });
		desk.tell({ type: "settings", change: { notify: "turn" } });
		desk.pass(60_000);
		expect(desk.told()).toEqual([]);
	});

	test.each(["turn", "message", "off"] as const)(
		"is shown background runs without a turn, with notify %s too",
		(notify) => {
			const desk = idleDesk({ notify });
			desk.settle("a", { kind: "background" });
			expect(desk.messages).toEqual([{ at: 0, ids: ["a"], startsTurn: false }]);
		},
	);

	test("gets background runs in a message of their own, before the one that starts a turn", () => {
		const desk = openDesk();
		desk.onBranch(entry);
		desk.settle("a");
		desk.settle("b", { kind: "background" });
		desk.settle("c");
		desk.session("idle");
		expect(desk.messages).toEqual([
			{ at: 0, ids: ["b"], startsTurn: false },
			{ at: 0, ids: ["a", "c"], startsTurn: true },
		]);
	});
});

describe("the branch", () => {
	test("that does not hold the launch gets nothing, until one that does becomes current", () => {
		const desk = idleDesk();
		desk.launch("a");
		desk.onBranch("entry-2");
		expect(desk.settle("a").map(({ type }) => type)).toEqual(["store"]);
		desk.pass(600_000);
		desk.onBranch("entry-2", entry);
		expect(desk.messages).toEqual([{ at: 600_000, ids: ["a"], startsTurn: true }]);
	});

	test("decides for each delivery, and going to and fro does not repeat any", () => {
		const desk = openDesk();
		desk.settle("a", { launchEntry: "left" });
		desk.settle("b", { launchEntry: "right" });
		desk.session("idle");
		for (const branch of ["left", "right", "left", "right"]) {
			desk.onBranch(branch);
			desk.pass(2_000);
		}
		expect(desk.told()).toEqual(["a", "b"]);
	});

	test("is the current one for a run that was just launched, and any for one that no call launched", () => {
		const desk = openDesk();
		desk.launch("a", { launchEntry: "new" });
		desk.launch("b");
		desk.settle("a");
		desk.session("idle");
		expect(desk.told()).toEqual(["a"]);
		const { launchEntry: _, ...scheduled } = deliveryOf("c");
		desk.onBranch();
		desk.tell({ type: "settled", delivery: scheduled, canBeClaimed: false });
		desk.pass(1_000);
		expect(desk.told()).toEqual(["a", "c"]);
	});
});
