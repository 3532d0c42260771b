import { describe, expect, test } from "vitest";
import type { SlotLimits } from "../../src/queue/limits.ts";
import { bench } from "./slots-timer.ts";

const foreground = { isForeground: true };
const onB = { model: "b/one" };

describe("a request", () => {
	test.each<[string, Partial<SlotLimits>, string[], number]>([
		["no limit", {}, ["a/one", "a/one", "a/two", "b/one"], 4],
		["zero, which is none", { maxConcurrent: 0, maxPerProvider: 0, maxPerModel: 0 }, ["a/one", "a/one", "a/two"], 3],
		["a global limit", { maxConcurrent: 2 }, ["a/one", "a/two", "b/one"], 2],
		["one limit for each provider", { maxPerProvider: 1 }, ["a/one", "a/two", "b/one"], 2],
		["limits by provider", { maxPerProvider: { a: 2 } }, ["a/one", "a/two", "a/one", "b/one", "b/one"], 4],
		["one limit for each model", { maxPerModel: 1 }, ["a/one", "a/one", "a/two", "b/one"], 3],
		["limits by model", { maxPerModel: { "a/one": 1 } }, ["a/one", "a/one", "a/two", "a/two"], 3],
		["all of them", { maxConcurrent: 3, maxPerProvider: 2, maxPerModel: 1 }, ["a/one", "a/two", "a/three", "b/one"], 3],
		["names that every object has", { maxPerProvider: { a: 1 } }, ["constructor/x", "constructor/x"], 2],
		["a number that makes no sense", { maxConcurrent: Number.NaN, maxPerModel: -1 }, ["a/one", "a/one"], 2],
	])("is granted while there is room: %s", (_name, limits, models, running) => {
		const { slots, ask } = bench(limits);
		models.forEach((model, index) => {
			ask(`x${index}`, { model });
		});
		expect(slots.snapshot()).toEqual({ running, queued: models.length - running, lent: 0, paused: [] });
	});

	test("that is repeated changes nothing", () => {
		const { slots, ask } = bench({ maxConcurrent: 1 });
		expect([ask("x"), ask("x"), ask("y"), ask("y")]).toEqual(["granted", "granted", "queued", "queued"]);
		expect(slots.snapshot()).toMatchObject({ running: 1, queued: 1 });
	});

	test("is forgotten when it is released, queued or not, any number of times", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		for (const id of ["x", "y", "z"]) ask(id);
		for (const id of ["y", "y", "x", "x", "nobody"]) slots.release(id);
		expect(granted).toEqual(["x", "z"]);
		slots.release("z");
		expect(slots.snapshot()).toMatchObject({ running: 0, queued: 0 });
		expect(ask("x")).toBe("granted"); // the next run of the same agent
	});
});

describe("the order", () => {
	test("is first come, first served within a class, foreground and children first", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("first", foreground);
		ask("b1");
		ask("b2");
		ask("child of a background agent", { parentId: "b0" });
		ask("f1", foreground);
		ask("f2", foreground);
		ask("child", { ...foreground, parentId: "first" });
		for (let index = 0; index < 7; index++) slots.release(granted.at(-1) ?? "");
		expect(granted).toEqual(["first", "child", "f1", "f2", "child of a background agent", "b1", "b2"]);
	});

	test("counts what a background agent waits for as background", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("background");
		ask("child", { ...foreground, parentId: "background" });
		ask("f", foreground);
		slots.release("background");
		expect(granted).toEqual(["background", "f"]);
	});

	test("moves one background agent up for every four that overtake", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		ask("start");
		for (const id of ["b1", "b2"]) ask(id);
		for (let index = 1; index <= 10; index++) ask(`f${index}`, foreground);
		for (let index = 0; index < 12; index++) slots.release(granted.at(-1) ?? "");
		expect(granted.join(" ")).toBe("start f1 f2 f3 f4 b1 f5 f6 f7 f8 b2 f9 f10");
	});

	test("keeps a place in front for one that was moved up while its provider was full", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 2, maxPerProvider: { b: 1 } });
		ask("on b", onB);
		ask("start");
		ask("patient", onB);
		for (let index = 1; index <= 5; index++) ask(`f${index}`, foreground);
		ask("f on b", { ...foreground, ...onB });
		for (const id of ["start", "f1", "f2", "f3", "f4"]) slots.release(id);
		expect(granted.slice(2)).toEqual(["f1", "f2", "f3", "f4", "f5"]);
		slots.release("on b");
		expect(granted.at(-1)).toBe("patient");
	});

	test("lets one who has room pass those who have none", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 3, maxPerProvider: { a: 1 }, maxPerModel: { "b/one": 1 } });
		for (const id of ["a1", "a2", "a3"]) ask(id);
		for (const id of ["b1", "b2"]) ask(id, onB);
		ask("c1", { model: "b/two" });
		ask("c2", { model: "b/two" });
		expect(granted).toEqual(["a1", "b1", "c1"]);
		slots.release("c1");
		slots.release("a1");
		slots.release("b1");
		expect(granted.slice(3)).toEqual(["c2", "a2", "b2"]);
	});
});

describe("when full, refusing", () => {
	const refuse = { whenFull: "refuse" } as const;

	test.each<[string, Partial<SlotLimits>, string]>([
		["all", { maxConcurrent: 1 }, "1 agent is running, and maxConcurrent allows 1"],
		[
			"the provider",
			{ maxConcurrent: 9, maxPerProvider: { a: 2 } },
			"2 agents are running on a, and maxPerProvider allows 2",
		],
		["the model", { maxPerModel: 2 }, "2 agents are running on a/one, and maxPerModel allows 2"],
	])("says how many there are, how many may be, and what to do: %s", (_name, limits, expected) => {
		const { slots, ask } = bench({ ...refuse, ...limits });
		const answers = [ask("x"), ask("y"), ask("z")];
		const setting = /max\w+/.exec(expected)?.[0];
		const message = `No free slot: ${expected}. Wait for one to finish, stop one, or raise ${setting} in the settings.`;
		expect(answers.at(-1)).toEqual({ refused: message });
		expect(slots.snapshot().queued).toBe(0);
	});

	test("a child gets the last slot from the parent that is about to wait for it, and only one child does", () => {
		const { slots, ask, granted } = bench({ ...refuse, maxConcurrent: 1 });
		ask("parent", foreground);
		expect(ask("left in the background", { parentId: "parent" })).toHaveProperty("refused");
		expect(ask("child", { ...foreground, parentId: "parent" })).toBe("queued");
		expect(ask("second", { ...foreground, parentId: "parent" })).toHaveProperty("refused");
		slots.lend("parent");
		expect(granted).toEqual(["parent", "child"]);
		expect(ask("third", { ...foreground, parentId: "parent" })).toHaveProperty("refused");
	});

	test("a slot that is lent for an answer is free", () => {
		const { slots, ask } = bench({ ...refuse, maxConcurrent: 1 });
		ask("asking");
		slots.lend("asking");
		expect(ask("other")).toBe("granted");
	});

	test("who was queued before stays queued, and a paused provider is not full", () => {
		const { slots, gate, ask, granted, timer } = bench({ maxConcurrent: 1 });
		ask("x");
		ask("y");
		slots.setLimits({ maxConcurrent: 2, maxPerProvider: { a: 1 }, ...refuse });
		gate.pause("b", 5_000);
		expect(ask("z", onB)).toHaveProperty("refused"); // x and y are two
		slots.release("x");
		expect(ask("z", onB)).toBe("queued");
		expect(ask("w", { model: "c/one" })).toHaveProperty("refused");
		timer.advance(10_000);
		expect(granted).toEqual(["x", "y", "z"]);
	});
});

describe("limits that change", () => {
	test("raised ones grant at once, lowered ones stop nobody", () => {
		const { slots, ask, granted } = bench({ maxConcurrent: 1 });
		for (let index = 1; index <= 6; index++) ask(`x${index}`);
		slots.setLimits({ maxConcurrent: 4, whenFull: "queue" });
		expect(granted).toEqual(["x1", "x2", "x3", "x4"]);
		slots.setLimits({ maxConcurrent: 2, whenFull: "queue" });
		slots.release("x1");
		slots.release("x2");
		expect(slots.snapshot()).toMatchObject({ running: 2, queued: 2 });
		slots.release("x3");
		expect(granted.at(-1)).toBe("x5");
		slots.setLimits({ whenFull: "queue", maxPerModel: { "a/one": 1 } });
		expect(slots.snapshot()).toMatchObject({ running: 2, queued: 1 });
		slots.setLimits({ whenFull: "queue" });
		expect(slots.snapshot()).toMatchObject({ running: 3, queued: 0 });
	});
});
