import { expect, test } from "vitest";
import { fakeWorld } from "./fixture.ts";

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s stops the run, and its result is written", async (signal) => {
	await using world = await fakeWorld("tool");
	const { process, ended } = world.start();
	await world.saw("tool_call");
	process.kill(signal);
	const { code, result } = await ended;
	expect(code).toBe(0);
	expect(result?.outcome).toEqual({ status: "aborted", by: "shutdown" });
	expect(await world.survivors()).toEqual([]);
});

test("closing the window of a run is the user's stop", async () => {
	await using world = await fakeWorld("tool", { launch: { showsProgress: true } });
	const { process, ended } = world.start();
	await world.saw("tool_call");
	process.kill("SIGHUP");
	expect((await ended).result?.outcome).toEqual({ status: "aborted", by: "user", reason: "its window was closed" });
	expect(await world.survivors()).toEqual([]);
});

test("a run that was not to outlive its parent ends with it", async () => {
	await using world = await fakeWorld("hangs");
	const { process, ended } = world.start();
	await world.saw("child_started");
	process.stdin?.end();
	expect((await ended).result?.outcome).toEqual({
		status: "aborted",
		by: "lost",
		reason: "the session that waited for it ended",
	});
	expect(await world.survivors()).toEqual([]);
});

test("a run that outlives its parent goes on without it, and without anybody who reads its output", async () => {
	await using world = await fakeWorld("works", { spec: { outlives: true } });
	await world.watch();
	const { process, ended } = world.start();
	const { id } = await world.saw("checkpoint");
	process.stdin?.destroy();
	process.stdout?.destroy();
	process.stderr?.destroy();
	await world.tell({ type: "pass", id, word: "go" });
	const { code, result } = await ended;
	expect({ code, outcome: result?.outcome }).toEqual({
		code: 0,
		outcome: { status: "completed", text: "Worked." },
	});
});

test("when the wrapper is killed its pi ends by itself", async () => {
	await using world = await fakeWorld("asks");
	await world.watch();
	const { process, ended } = world.start();
	await world.saw("question");
	process.kill("SIGKILL");
	expect((await ended).result).toBeUndefined();
	await expect.poll(() => world.survivors()).toEqual([]);
});

test("a person who looks on sees what the run is, what it does and how it ended, without its control characters", async () => {
	const task = "\u001b[31mLook around\u001b[0m\nand report.";
	await using world = await fakeWorld("works", { spec: { task }, launch: { showsProgress: true } });
	const { stdout } = await world.run();
	expect(stdout.replace(/in \d.*s$/m, "in 1s")).toBe(
		["Agent a1 (scout): Look around", "make", "Command finished: make", "Worked.", "Done in 1s", ""].join("\n"),
	);
});
