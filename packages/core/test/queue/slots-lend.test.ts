import { describe, expect, test } from "vitest";
import { bench } from "./slots-timer.ts";

const childOf = (parentId: string) => ({ isForeground: true, parentId });

describe("a parent that waits lends its slot", () => {
	test("so a family of depth 4 runs with one slot, and each goes on when its child has settled", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		const family = ["root", "child", "grandchild", "last"];
		const takeBacks = family.map((id, index) => {
			ask(id, index === 0 ? {} : childOf(family[index - 1] ?? ""));
			return index < 3 ? slots.lend(id) : () => {};
		});
		ask("stranger");
		expect(granted).toEqual(family);
		for (const index of [3, 2, 1]) {
			takeBacks[index - 1]?.();
			slots.release(family[index] ?? "");
			expect(slots.snapshot()).toEqual({ running: 1, queued: 1, lent: index - 1, paused: [] });
		}
		slots.release("root");
		expect(granted.at(-1)).toBe("stranger");
	});

	test("to its child rather than to whoever came before", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("parent");
		for (const id of ["x", "y"]) ask(id);
		ask("child", childOf("parent"));
		slots.lend("parent");
		expect(granted).toEqual(["parent", "child"]);
	});

	test("for two children one after the other", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("parent");
		for (const child of ["c1", "c2"]) {
			ask(child, childOf("parent"));
			const takeBack = slots.lend("parent");
			takeBack();
			slots.release(child);
		}
		expect(granted).toEqual(["parent", "c1", "c2"]);
		expect(slots.snapshot()).toEqual({ running: 1, queued: 0, lent: 0, paused: [] });
	});

	test("for two children at once, until it has stopped waiting for both", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("parent");
		ask("c1", childOf("parent"));
		ask("c2", childOf("parent"));
		const first = slots.lend("parent");
		const second = slots.lend("parent");
		expect(slots.snapshot()).toEqual({ running: 1, queued: 1, lent: 1, paused: [] });
		first();
		first(); // the same wait cannot end twice
		slots.release("c1");
		expect(slots.snapshot()).toEqual({ running: 1, queued: 0, lent: 1, paused: [] });
		second();
		slots.release("c2");
		expect(granted).toEqual(["parent", "c1", "c2"]);
		expect(slots.snapshot()).toEqual({ running: 1, queued: 0, lent: 0, paused: [] });
	});

	test("of its own provider and model, which a child of another may not need", () => {
		const { slots, ask, granted } = bench({ maxPerProvider: 1 });
		ask("parent");
		ask("stranger");
		ask("child", { ...childOf("parent"), model: "b/one" });
		slots.lend("parent");
		expect(granted).toEqual(["parent", "child", "stranger"]);
	});
});

describe("a slot that is taken back", () => {
	test("is there at once, and nobody else is granted until the limit holds again", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("asking");
		const takeBack = slots.lend("asking");
		ask("x");
		ask("y");
		takeBack();
		expect(slots.snapshot()).toEqual({ running: 2, queued: 1, lent: 0, paused: [] });
		slots.release("x");
		expect(granted).toEqual(["asking", "x"]);
		slots.release("asking");
		expect(granted).toEqual(["asking", "x", "y"]);
	});

	test("is nothing after a release, also not to the next run of the agent", () => {
		const { slots, ask } = bench({ maxConcurrent: 1 });
		ask("parent");
		ask("child", childOf("parent"));
		const takeBack = slots.lend("parent");
		slots.release("parent"); // aborted while it waited
		expect(slots.snapshot()).toEqual({ running: 1, queued: 0, lent: 0, paused: [] });
		expect(ask("parent")).toBe("queued");
		takeBack();
		slots.release("child");
		takeBack();
		expect(slots.snapshot()).toEqual({ running: 1, queued: 0, lent: 0, paused: [] });
	});

	test("was never lent by one who has none", () => {
		const { slots, ask } = bench({ maxConcurrent: 1 });
		ask("x");
		ask("queued");
		for (const id of ["queued", "nobody"]) slots.lend(id)();
		expect(slots.snapshot()).toEqual({ running: 1, queued: 1, lent: 0, paused: [] });
	});
});

describe("many trees", () => {
	test("are finished one after the other: those who wait never outnumber the slots", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 4 });
		const takeBacks = new Map<string, () => void>();
		const left = new Map<string, number>();
		let most = 0;
		for (let index = 0; index < 200; index++) ask(`r${index}`);
		for (let seen = 0; seen < granted.length; seen++) {
			const id = granted[seen] ?? "";
			const [root, child] = id.split(".");
			if (child === undefined) {
				for (const name of ["1", "2", "3"]) ask(`${id}.${name}`, childOf(id));
				left.set(id, 3);
				takeBacks.set(id, slots.lend(id));
			} else {
				const rest = (left.get(root ?? "") ?? 0) - 1;
				left.set(root ?? "", rest);
				if (rest === 0) takeBacks.get(root ?? "")?.();
				slots.release(id);
				if (rest === 0) slots.release(root ?? "");
			}
			most = Math.max(most, slots.snapshot().lent);
		}
		expect(granted).toHaveLength(800);
		expect(slots.snapshot()).toEqual({ running: 0, queued: 0, lent: 0, paused: [] });
		expect(most).toBeLessThanOrEqual(4);
	});
});

describe("a grant that calls back", () => {
	test("may release itself: ten thousand that fail at once need no stack", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 }, { onGrant: (id, own) => own.release(id) });
		for (let index = 0; index < 10_000; index++) ask(`x${index}`);
		slots.release("x0");
		expect(granted).toEqual(Array.from({ length: 10_000 }, (_, index) => `x${index}`));
		expect(slots.snapshot()).toMatchObject({ running: 0, queued: 0 });
	});

	test("may ask for more, which are granted in their turn", () => {
		const answers: unknown[] = [];
		const { slots, ask, granted } = bench(
			{ maxConcurrent: 2 },
			{
				onGrant: (id, own) => {
					if (id !== "y") return;
					own.release("x");
					answers.push(own.request({ id: "late", provider: "a", model: "a/one", isForeground: true }));
				},
			},
		);
		for (const id of ["w", "x", "y", "z"]) ask(id);
		slots.release("w");
		expect(answers).toEqual(["queued"]);
		expect(granted).toEqual(["w", "x", "y", "late"]);
	});
});
