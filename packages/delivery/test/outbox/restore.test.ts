import { describe, expect, test } from "vitest";
import { deliveryOf, entry, idleDesk, launchOf, openDesk, type Told } from "./fixture.ts";

const nothing = { type: "restored", stored: [], held: [], running: [] } as const satisfies Told;

/** A session opened again, idle and on its branch, with what its entries say. */
function reopened(entries: Partial<typeof nothing | Extract<Told, { type: "restored" }>>) {
	const desk = openDesk();
	desk.tell({ ...nothing, ...entries });
	desk.onBranch(entry);
	desk.session("idle");
	return desk;
}

describe("after a restart", () => {
	test("what was stored and is not held is sent once, without starting a turn that nobody asked for", () => {
		const desk = reopened({ stored: ["a", "b", "c"].map((id) => deliveryOf(id)), held: ["b"] });
		expect(desk.messages).toEqual([{ at: 0, ids: ["a", "c"], startsTurn: false }]);
		expect(desk.actions.filter(({ type }) => type === "store")).toEqual([]);
	});

	test("nothing is sent before the branch and the session are known", () => {
		const desk = openDesk();
		expect(desk.tell({ ...nothing, stored: [deliveryOf("a")] })).toEqual([]);
		expect(desk.session("idle")).toEqual([]);
		desk.onBranch("elsewhere");
		expect(desk.told()).toEqual([]);
		desk.onBranch(entry);
		expect(desk.told()).toEqual(["a"]);
	});

	test("a held run that settles again, as its files are read, is not sent again", () => {
		const desk = reopened({ held: ["a"] });
		expect(desk.settle("a")).toEqual([]);
	});

	test("an unfinished run, settled as aborted by shutdown, is told once over two restarts", () => {
		const first = reopened({});
		const { type } = first.settle("a", { isFailure: true, isQuiet: true })[0] ?? {};
		expect(type).toBe("store");
		expect(first.messages).toEqual([{ at: 0, ids: ["a"], startsTurn: false }]);
		const second = reopened({ stored: [deliveryOf("a", { isQuiet: true })], held: ["a"] });
		expect(second.settle("a", { isFailure: true, isQuiet: true })).toEqual([]);
		expect(second.told()).toEqual([]);
	});

	test("a run that outlived the session is told when it settles, on its branch, and may start a turn", () => {
		const desk = openDesk();
		desk.tell({ ...nothing, running: [launchOf("a"), launchOf("b", { launchEntry: "elsewhere" })] });
		desk.onBranch(entry);
		desk.session("idle");
		desk.settle("a");
		desk.settle("b", { launchEntry: "elsewhere" });
		desk.pass(60_000);
		expect(desk.messages).toEqual([{ at: 0, ids: ["a"], startsTurn: true }]);
	});

	test("a kept state goes on: lost messages again, held and claimed ones not, and no timer of the past", () => {
		const desk = idleDesk();
		desk.launch("a b c d e");
		desk.settle("a");
		desk.session("busy");
		desk.settle("b");
		desk.session("idle");
		desk.settle("c", { canBeClaimed: true });
		desk.settle("d", { canBeClaimed: true });
		desk.claim("d");
		const stored = ["a", "b", "c", "d"].map((id) => deliveryOf(id));
		desk.tell({ type: "restored", stored, held: ["a"], running: [launchOf("e")] });
		expect(desk.state()).toMatchObject({ session: "busy", wakeAt: null, sent: [], done: ["d", "a"] });
		expect(desk.state().running.map(({ launch }) => launch.id)).toEqual(["e"]);
		desk.messages.length = 0;
		desk.onBranch(entry);
		desk.session("idle");
		expect(desk.told()).toEqual(["b+c"]);
	});

	test("a kept state that is older than the entries believes the entries, and ends the drain of the past", () => {
		const desk = openDesk();
		desk.launch("a b", { group: "turn-1" });
		desk.tell({ type: "drain", deadline: 10_000 });
		expect(desk.tell({ ...nothing, stored: [deliveryOf("a")] })).toEqual([{ type: "sleep" }]);
		expect(desk.state().running.map(({ launch }) => launch.id)).toEqual(["b"]);
		desk.pass(60_000);
		expect(desk.actions.filter(({ type }) => type === "drained")).toEqual([]);
	});

	test("a fork holds its own: what the new session lacks is told there once", () => {
		const original = idleDesk();
		original.settle("a");
		const fork = reopened({ stored: [deliveryOf("a")] });
		expect([original.told(), fork.told()]).toEqual([["a"], ["a"]]);
	});
});

describe("a drain", () => {
	/** A session in print mode that would stop now. */
	function printing(ids: string, deadline = 10_000) {
		const desk = openDesk();
		desk.launch(ids, { group: "turn-1" });
		const actions = desk.tell({ type: "drain", deadline });
		return { ...desk, first: actions, drained: () => desk.actions.filter(({ type }) => type === "drained") };
	}

	test("is over at once when there is nothing to wait for", () => {
		const desk = openDesk();
		expect(desk.tell({ type: "drain", deadline: 10_000 })).toEqual([{ type: "drained", missing: [] }]);
	});

	test("sends everything at once when the last agent has settled, however far apart", () => {
		const desk = printing("a b c", 600_000);
		expect(desk.first).toEqual([{ type: "wake", at: 600_000 }]);
		for (const id of ["a", "b", "c"]) {
			desk.pass(100_000);
			desk.settle(id, { isFailure: id === "a" });
		}
		expect(desk.messages).toEqual([{ at: 300_000, ids: ["a", "b", "c"], startsTurn: true }]);
		expect(desk.drained()).toEqual([{ type: "drained", missing: [] }]);
	});

	test("leaves the last one its hold, and a claimed one out", () => {
		const desk = printing("a b c");
		desk.settle("a");
		desk.claim("b");
		desk.settle("c", { canBeClaimed: true });
		desk.pass(1_000);
		expect(desk.messages).toEqual([{ at: 200, ids: ["a", "c"], startsTurn: true }]);
	});

	test("ends at the deadline with what there is, and names the missing", () => {
		const desk = printing("a b c");
		desk.settle("b");
		desk.pass(60_000);
		expect(desk.messages).toEqual([{ at: 10_000, ids: ["b"], startsTurn: true }]);
		expect(desk.drained()).toEqual([{ type: "drained", missing: ["a", "c"] }]);
	});

	test("does not wait for background runs, which go on without the process", () => {
		const desk = printing("a");
		desk.launch("b c", { kind: "background" });
		desk.settle("b");
		desk.settle("a");
		expect(desk.messages).toEqual([{ at: 0, ids: ["a"], startsTurn: true }]);
		expect(desk.drained()).toEqual([{ type: "drained", missing: [] }]);
		expect(desk.state().waiting.map(({ delivery }) => delivery.id)).toEqual(["b"]); // for when the session is opened again
	});

	test("leaves out what never starts a turn, unless it comes with what may", () => {
		const desk = printing("a");
		desk.launch("mine", { isForUser: true });
		desk.settle("mine");
		desk.settle("a");
		expect(desk.told()).toEqual(["a"]);

		const other = printing("a");
		other.launch("mine", { isForUser: true });
		other.settle("mine");
		other.settle("a", { isQuiet: true }); // the user stopped it
		expect(other.told()).toEqual(["mine+a"]);
	});

	test("sends nothing into a dialog, and still ends at the deadline", () => {
		const desk = printing("a");
		desk.session("waiting_for_user");
		desk.settle("a");
		desk.pass(60_000);
		expect(desk.messages).toEqual([]);
		expect(desk.drained()).toEqual([{ type: "drained", missing: [] }]);
		desk.session("idle");
		expect(desk.told()).toEqual(["a"]);
	});

	test("can follow another, when the turn it started has launched more", () => {
		const desk = printing("a");
		desk.settle("a");
		desk.launch("b");
		desk.tell({ type: "drain", deadline: 20_000 });
		desk.settle("b");
		expect(desk.told()).toEqual(["a", "b"]);
		expect(desk.drained()).toHaveLength(2);
	});
});
