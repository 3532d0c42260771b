/** `live.jsonl`: only while an owner watches, bounded, and nothing depends on it. */
import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import type { LiveLine } from "../../../../runs/src/format/lines.ts";
import { parseLive } from "../../../../runs/src/read.ts";
import { fakeWorld, type WrapperWorld } from "./fixture.ts";

const liveLines = async (world: WrapperWorld): Promise<(LiveLine | undefined)[]> =>
	(await world.read(RUN_FILES.live)).trimEnd().split("\n").map(parseLive);

async function answer(world: WrapperWorld, question: string): Promise<void> {
	const asked = async () =>
		(await world.events()).find((event) => event.type === "question" && event.question === question);
	await expect.poll(asked).toBeDefined();
	const event = await asked();
	if (event?.type === "question")
		await world.tell({ type: "answer", id: event.id, answer: { by: "user", text: "yes" } });
}

test("what the child writes is in its own file while an owner watches, in bounded size, and never in the log", async () => {
	await using world = await fakeWorld("writes");
	await world.watch();
	await world.tell({ type: "watch", id: "w1" });
	const { ended } = world.start();
	await world.saw("question");
	const thought = { for: "w1", block: 0, kind: "thinking" };
	expect(await liveLines(world)).toEqual([
		{ ...thought, offset: 0, text: "Hm." },
		{ ...thought, offset: 3, text: "", isFinal: true },
	]);
	await answer(world, "More?");
	await expect.poll(async () => (await liveLines(world)).at(-1)?.block).toBe(600);
	const { size, mode } = statSync(join(world.runDir, RUN_FILES.live));
	expect(size).toBeLessThanOrEqual(256 * 1024);
	expect(mode & 0o077).toBe(0);
	expect((await liveLines(world)).every((line) => line !== undefined)).toBe(true);
	await answer(world, "Done?");
	const { result } = await ended;
	expect(result?.outcome).toMatchObject({ status: "completed", text: "Done." });
	expect(existsSync(join(world.runDir, RUN_FILES.live))).toBe(false);
	expect(await world.read(RUN_FILES.events)).not.toContain("xxxx");
});

test("without a watch, and after its end, nothing is written", async () => {
	await using world = await fakeWorld("writes");
	await world.watch();
	const { ended } = world.start();
	await world.saw("question");
	expect(await readdir(world.runDir)).not.toContain(RUN_FILES.live);
	await world.tell({ type: "watch", id: "w1" }, { type: "watch" });
	await answer(world, "More?");
	await answer(world, "Done?");
	await ended;
	expect(await readdir(world.runDir)).not.toContain(RUN_FILES.live);
});

test("a wrapper that is killed leaves a file that readers can use", async () => {
	await using world = await fakeWorld("writes");
	await world.watch();
	await world.tell({ type: "watch", id: "w1" });
	const { process, ended } = world.start();
	await world.saw("question");
	process.kill("SIGKILL");
	await ended;
	expect((await liveLines(world)).every((line) => line?.for === "w1")).toBe(true);
});
