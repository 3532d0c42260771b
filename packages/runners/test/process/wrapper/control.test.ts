import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Stop } from "../../../../core/src/index.ts";
import { releaseRun } from "../../../../runs/src/owner.ts";
import { fakeWorld, type WrapperWorld } from "./fixture.ts";

const stop: Stop = { by: "parent", reason: "not needed" };
const aborted = { status: "aborted", ...stop };

/** Starts the run, stops it as soon as it did this, and checks that nothing is left of it. */
async function stopAt(world: WrapperWorld, type: Parameters<WrapperWorld["saw"]>[0]) {
	const { ended } = world.start();
	await world.saw(type);
	await world.tell({ type: "abort", stop });
	const { result } = await ended;
	expect(await world.survivors()).toEqual([]);
	return result?.outcome;
}

test("a stop that came first lets no pi start", async () => {
	await using world = await fakeWorld("answers");
	await world.tell({ type: "abort", stop });
	const { result } = await world.run();
	expect(result?.outcome).toEqual(aborted);
	expect(await world.heard()).toEqual([]);
});

test.each([
	["while its model is silent", "hangs", "child_started", undefined],
	["in a tool", "tool", "tool_call", undefined],
	["before a retry", "retries_for_ever", "retrying", undefined],
	["while the context is shortened", "compacts_for_ever", "compacting", "Done."],
] as const)("a stop %s ends it", async (_when, scenario, type, partialText) => {
	await using world = await fakeWorld(scenario);
	expect(await stopAt(world, type)).toEqual({ ...aborted, ...(partialText && { partialText }) });
});

test.each([
	["at a checkpoint", "works", "checkpoint"],
	["while it waits for an answer", "asks", "question"],
] as const)("a stop %s ends it", async (_when, scenario, type) => {
	await using world = await fakeWorld(scenario);
	await world.watch();
	expect(await stopAt(world, type)).toEqual(aborted);
});

test("a stop after the end changes nothing", async () => {
	await using world = await fakeWorld("stubborn");
	const { ended } = world.start();
	await expect.poll(() => world.read("closed").catch(() => "")).not.toBe("");
	await world.tell({ type: "abort", stop });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Done." });
	expect(await world.survivors()).toEqual([]);
});

test("the first of two stops counts", async () => {
	await using world = await fakeWorld("hangs");
	await world.tell({ type: "abort", stop }, { type: "abort", stop: { by: "user" } });
	expect((await world.run()).result?.outcome).toEqual(aborted);
});

test("broken and unknown lines of control are passed over, and half a line waits for its end", async () => {
	await using world = await fakeWorld("hangs");
	const line = JSON.stringify({ type: "abort", stop });
	await world.watch();
	await writeFile(world.control, `null\n{"type":"dance"}\n{"type":"abort"}\n${line.slice(0, 12)}`);
	const { ended } = world.start();
	await world.saw("child_started");
	await writeFile(world.control, `${line.slice(12)}\n`, { flag: "a" });
	expect((await ended).result?.outcome).toEqual(aborted);
});

test("what an agent writes into the files of its run is no order", async () => {
	await using world = await fakeWorld("answers");
	await writeFile(join(world.runDir, "control.jsonl"), `${JSON.stringify({ type: "abort", stop })}\n`);
	expect((await world.run()).result?.outcome).toMatchObject({ status: "completed" });
});

test("steers that come before the child can hear are given to it together, and none is taken for a command", async () => {
	await using world = await fakeWorld("works", { spec: { task: "/look around" } });
	await world.tell({ type: "steer", message: "/mind the tests" }, { type: "steer", message: "and the docs" });
	expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Worked." });
	expect(await world.heard()).toEqual([" /look around", " /mind the tests\n\nand the docs"]);
	expect(await world.survivors()).toEqual([]);
});

test("a steer while it works reaches it between two turns", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "steer", message: "mind the docs" }, { type: "pass", id, word: "go" });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Worked." });
	expect(await world.heard()).toEqual(["Look around and report.", "mind the docs"]);
});

test("a steer that finds the child finished is one more thing to do", async () => {
	await using world = await fakeWorld("compacts");
	const { ended } = world.start();
	await world.saw("compacting");
	await world.tell({ type: "steer", message: "and the docs" });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Also: and the docs" });
	expect(await world.survivors()).toEqual([]);
});

test("a wish to wrap up takes effect between two turns", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell(
		{ type: "wrap_up", reason: "the user is in a hurry" },
		{ type: "wrap_up", reason: "again" },
		{ type: "pass", id, word: "go" },
	);
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Wrapped up.", wrappedUp: true });
	expect(await world.heard()).toEqual([
		"Look around and report.",
		expect.stringMatching(/^Finish now: the user is in a hurry\. Your tools are gone/),
	]);
});

test("a request to wrap up after the end changes nothing", async () => {
	await using world = await fakeWorld("compacts");
	const { ended } = world.start();
	await world.saw("compacting");
	await world.tell({ type: "wrap_up" });
	expect((await ended).result?.outcome).toEqual({ status: "completed", text: "Done." });
});

test("a checkpoint that says end makes it end with what there is", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id: "pass-99", word: "go" }, { type: "pass", id, word: "end" });
	const { result } = await ended;
	expect(result).toMatchObject({
		outcome: { status: "failed", error: "The agent ended while it was still using tools." },
		turns: 1,
	});
	expect(await world.survivors()).toEqual([]);
});

test("a checkpoint that fails lets nothing pass", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id, word: "end", error: "the books are closed" });
	expect((await ended).result?.outcome).toEqual({ status: "failed", error: "the books are closed" });
});

test("a request that failed is not made again without the checkpoint's word", async () => {
	await using world = await fakeWorld("repeats");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id, word: "end" });
	expect((await ended).result).toMatchObject({ outcome: { status: "failed", error: "overloaded" }, turns: 0 });
	expect(await world.survivors()).toEqual([]);
});

test("a provider that wants a pause also gets it from an unwatched run, and a later watcher reads of it", async () => {
	await using world = await fakeWorld("rests");
	expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Rested." });
	expect(await world.saw("retrying")).toMatchObject({ retryAfterMs: 700 });
	const said = (await world.events()).filter(({ type }) => type === "assistant_text");
	expect(said).toMatchObject([{ error: "429", retryAfterMs: 700 }, { text: "Rested." }]);
	expect(said[1]).not.toHaveProperty("retryAfterMs");
});

test("how full the context is goes with the turn", async () => {
	await using world = await fakeWorld("works");
	await world.run();
	expect(await world.saw("turn")).toMatchObject({ contextPercent: 12.5 });
});

test("a question is answered through the run's files", async () => {
	await using world = await fakeWorld("asks");
	await world.watch();
	const { ended } = world.start();
	const { id, question, defaultAnswer } = await world.saw("question");
	expect({ question, defaultAnswer }).toEqual({ question: "Which one?", defaultAnswer: "the first" });
	await world.tell({ type: "answer", id, answer: { by: "user", text: "the second" } });
	expect((await ended).result?.finalText).toBe('Answer: {"by":"user","text":"the second"}');
	expect((await world.events()).some(({ type }) => type === "question_over")).toBe(false);
});

test("a question is over when its time is", async () => {
	await using world = await fakeWorld("asks_briefly");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("question");
	expect((await ended).result?.finalText).toBe('Answer: {"by":"default","text":"the first","why":"timeout"}');
	expect(await world.saw("question_over")).toMatchObject({ id });
});

test("when nobody watches, nobody is asked: a question has its default at once, and a checkpoint is passed", async () => {
	await using asking = await fakeWorld("asks");
	expect((await asking.run()).result?.finalText).toBe('Answer: {"by":"default","text":"the first","why":"absent"}');
	await using working = await fakeWorld("works");
	expect((await working.run()).result?.finalText).toBe("Worked.");
	const types = [...(await asking.events()), ...(await working.events())].map(({ type }) => type);
	expect(types).not.toContain("question");
	expect(types).not.toContain("checkpoint");
});

test("who watched and let go, or is gone, is not waited for", async () => {
	await using world = await fakeWorld("asks");
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("question");
	releaseRun(world.place);
	expect((await ended).result?.finalText).toBe('Answer: {"by":"default","text":"the first","why":"absent"}');
	expect(await world.saw("question_over")).toMatchObject({ id });
});

test("a budget that was extended stays so when nobody watches any more", async () => {
	await using world = await fakeWorld("loops", { spec: { limits: { budgetTokens: 20 } } });
	await world.watch();
	const { ended } = world.start();
	const { id } = await world.saw("checkpoint");
	await world.tell({ type: "pass", id, word: "go", limits: { budgetTokens: 40 } });
	expect(await world.saw("granted")).toMatchObject({ limits: { budgetTokens: 40 } });
	releaseRun(world.place);
	expect((await ended).result).toMatchObject({
		outcome: { status: "aborted", by: "budget", reason: "it used 45 of 40 tokens" },
		turns: 3,
	});
});

test("a child that was not given the tool to ask asks nobody, and learns that at once", async () => {
	await using world = await fakeWorld("asks", { spec: { withheld: ["ask_main_session"] } });
	await world.watch();
	const { result } = await world.run();
	expect(result?.finalText).toContain('"by":"default"');
	expect((await world.events()).map(({ type }) => type)).not.toContain("question");
});
