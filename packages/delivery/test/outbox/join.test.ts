import { describe, expect, test } from "vitest";
import type { Delivery } from "../../src/outbox/types.ts";
import { deliveryOf, entry, idleDesk, openDesk } from "./fixture.ts";

const group = "turn-1";

/** An idle session that launched these in one turn. */
function deskWith(ids: string, settings = {}) {
	const desk = idleDesk(settings);
	desk.launch(ids, { group });
	return desk;
}

describe("smart joining", () => {
	test("sends an agent that was launched alone on its own", () => {
		const desk = deskWith("a");
		desk.launch("b", { group: "turn-2" });
		desk.settle("a");
		expect(desk.messages).toEqual([{ at: 0, ids: ["a"], startsTurn: true }]);
	});

	test("sends siblings as one message when the last has settled", () => {
		const desk = deskWith("a b c");
		for (const id of ["a", "b", "c"]) {
			desk.pass(5_000);
			desk.settle(id);
		}
		expect(desk.messages).toEqual([{ at: 15_000, ids: ["a", "b", "c"], startsTurn: true }]);
	});

	test("knows the siblings that are launched after the first has settled, in the same turn", () => {
		const desk = openDesk();
		desk.launch("a", { group });
		desk.settle("a");
		desk.launch("b", { group });
		desk.session("idle");
		expect(desk.told()).toEqual([]);
		desk.settle("b");
		expect(desk.told()).toEqual(["a+b"]);
	});

	test("waits 30 s from the first settled, then 15 s from the first straggler, exactly", () => {
		const desk = deskWith("a b c d e");
		desk.pass(1_000);
		desk.settle("a");
		desk.pass(10_000);
		desk.settle("b");
		desk.pass(30_000); // now 41 s
		desk.settle("c");
		desk.pass(5_000);
		desk.settle("d");
		desk.pass(60_000);
		desk.settle("e");
		expect(desk.messages.map(({ at, ids }) => [at, ids.join("+")])).toEqual([
			[31_000, "a+b"],
			[56_000, "c+d"],
			[106_000, "e"],
		]);
	});

	test("does not wait again for siblings whose time passed while the session was busy", () => {
		const desk = deskWith("a b");
		desk.session("busy");
		desk.settle("a");
		desk.pass(40_000);
		desk.session("idle");
		expect(desk.messages.map(({ at }) => at)).toEqual([40_000]);
	});

	test("holds the last one for a waiter, and the others with it", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.settle("b", { canBeClaimed: true });
		desk.pass(500);
		expect(desk.messages).toEqual([{ at: 200, ids: ["a", "b"], startsTurn: true }]);
	});

	test("the first failure takes those that have settled along at once; later ones wait as stragglers", () => {
		const desk = deskWith("a b c d");
		desk.settle("a");
		desk.pass(1_000);
		desk.settle("b", { isFailure: true });
		desk.pass(5_000);
		desk.settle("c", { isFailure: true });
		desk.pass(60_000);
		expect(desk.messages.map(({ at, ids }) => [at, ids.join("+")])).toEqual([
			[1_000, "a+b"],
			[21_000, "c"],
		]);
	});

	test("a failure is held for a waiter like any other", () => {
		const desk = deskWith("a b");
		desk.settle("a", { isFailure: true, canBeClaimed: true });
		desk.pass(1_000);
		expect(desk.messages.map(({ at }) => at)).toEqual([200]);
	});

	test("a member that is claimed leaves the group, and the rest goes on", () => {
		const desk = deskWith("a b c");
		desk.settle("a");
		desk.settle("b");
		desk.claim("a");
		desk.pass(1_000);
		desk.settle("c");
		expect(desk.told()).toEqual(["b+c"]);
	});

	test("a member that is claimed within its hold lets the others go at once", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.settle("b", { canBeClaimed: true });
		desk.pass(20);
		desk.claim("b");
		expect(desk.messages).toEqual([{ at: 20, ids: ["a"], startsTurn: true }]);
	});

	test("a member that is claimed while it runs is not waited for", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.claim("b");
		expect(desk.told()).toEqual(["a"]);
	});

	test("a member that was aborted counts as settled", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.settle("b", { isFailure: false });
		expect(desk.told()).toEqual(["a+b"]);
	});

	test("a group whose members are all claimed sends nothing and wants no timer", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.settle("b", { canBeClaimed: true });
		desk.claim("a");
		expect(desk.claim("b").at(-1)).toEqual({ type: "sleep" });
		desk.pass(600_000);
		expect(desk.told()).toEqual([]);
	});

	test("a background sibling that was sent does not make stragglers of the others", () => {
		const desk = deskWith("a b");
		desk.launch("c", { group, kind: "background" });
		desk.settle("c");
		desk.pass(1_000);
		desk.settle("a");
		desk.pass(60_000);
		expect(desk.messages.map(({ at }) => at)).toEqual([0, 31_000]);
	});

	test("background siblings neither wait nor are waited for", () => {
		const desk = deskWith("a");
		desk.launch("b c", { group, kind: "background" });
		desk.settle("b");
		desk.pass(1_000);
		desk.settle("a");
		expect(desk.messages).toEqual([
			{ at: 0, ids: ["b"], startsTurn: false },
			{ at: 1_000, ids: ["a"], startsTurn: true },
		]);
	});
});

describe("the other ways", () => {
	test("async waits for no sibling, but what is due at the same moment is still one message", () => {
		const desk = deskWith("a b c d", { join: "async" });
		desk.settle("a");
		desk.session("busy");
		desk.settle("b");
		desk.settle("c");
		desk.session("idle");
		expect(desk.told()).toEqual(["a", "b+c"]);
	});

	test("group waits for all, failures too, but not beyond ten minutes", () => {
		const desk = deskWith("a b c", { join: "group" });
		desk.settle("a", { isFailure: true });
		desk.pass(300_000);
		desk.settle("b");
		desk.pass(600_000);
		expect(desk.messages.map(({ at, ids }) => [at, ids.join("+")])).toEqual([[600_000, "a+b"]]);
	});

	test("a change of the setting counts for what waits already", () => {
		const desk = deskWith("a b");
		desk.settle("a");
		desk.pass(1_000);
		expect(desk.tell({ type: "settings", change: { join: "group" } })).toEqual([{ type: "wake", at: 600_000 }]);
		desk.tell({ type: "settings", change: { join: "async", notify: "message" } });
		expect(desk.messages).toEqual([{ at: 1_000, ids: ["a"], startsTurn: false }]);
	});
});

describe("a message of many", () => {
	/** What a session gets that finds all of these when it becomes idle. */
	function formsOf(deliveries: Delivery[]) {
		const desk = openDesk();
		desk.onBranch(entry);
		for (const delivery of deliveries) desk.tell({ type: "settled", delivery, canBeClaimed: false });
		const sends = desk.session("idle").flatMap((action) => (action.type === "send" ? [action.items] : []));
		return sends.map((items) => items.map(({ id, form }) => `${id}:${form}`));
	}

	test("holds all in full up to 8 KB, and past it lines for those that do not fit", () => {
		expect(formsOf([deliveryOf("a", { bytes: 4_096 }), deliveryOf("b", { bytes: 4_096 })])).toEqual([
			["a:full", "b:full"],
		]);
		expect(formsOf(["a", "b", "c"].map((id) => deliveryOf(id, { bytes: 4_000 })))).toEqual([
			["a:full", "b:full", "c:line"],
		]);
	});

	test("gives failures the room first, in the order of settling", () => {
		const many = [
			deliveryOf("a", { bytes: 7_000 }),
			deliveryOf("b", { bytes: 7_000, isFailure: true }),
			deliveryOf("c", { bytes: 400 }),
		];
		expect(formsOf(many)).toEqual([["a:line", "b:full", "c:full"]]);
	});

	test("gives one result alone in full, whatever its size", () => {
		expect(formsOf([deliveryOf("a", { bytes: 50_000 })])).toEqual([["a:full"]]);
	});

	test("is one for 1,000 agents that settle while the session is busy, and stays within 8 KB", () => {
		const many = Array.from({ length: 1_000 }, (_, index) =>
			deliveryOf(`a${index}`, { bytes: 2_000, isFailure: index === 999 }),
		);
		const [forms = [], ...more] = formsOf(many);
		expect(more).toEqual([]);
		expect(forms).toHaveLength(1_000);
		expect(forms.filter((form) => form.endsWith("full"))).toEqual([]);
		expect((forms.filter((form) => form.endsWith("line")).length + 1) * 120).toBeLessThanOrEqual(8_192);
		expect(forms.at(-1)).toBe("a999:line");
	});

	test("are few for 1,000 background runs that settle one by one in an idle session", () => {
		const desk = idleDesk();
		for (let index = 0; index < 1_000; index++) {
			desk.settle(`a${index}`, { kind: "background" });
			desk.pass(10);
		}
		desk.pass(1_000);
		expect(desk.messages.flatMap(({ ids }) => ids)).toHaveLength(1_000);
		expect(desk.messages).toHaveLength(11);
	});
});
