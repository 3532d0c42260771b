import { expect, test } from "vitest";
import { fakeWorld } from "./fixture.ts";

const completed = { status: "completed", text: "Done." };

test("a pi that answers and is idle is done, and its result says all there is to say", async () => {
	await using world = await fakeWorld("answers");
	const { code, stdout, stderr, result } = await world.run();
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(result).toEqual({
		format: 1,
		runId: "a1",
		agentId: "a1",
		run: 1,
		writtenBy: "wrapper",
		outcome: completed,
		finalText: "Done.",
		stopReason: "stop",
		resolvedModel: "fake/one",
		startedAt: expect.any(Number),
		completedAt: expect.any(Number),
		durationMs: expect.any(Number),
		turns: 1,
		toolUses: 0,
		usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: 0.01 },
		exitCode: 0,
	});
	expect(JSON.parse(stdout)).toEqual(result);
	expect(stdout.trimEnd()).not.toContain("\n");
	const events = await world.events();
	const types = ["agent_queued", "agent_started", "child_started", "assistant_text", "usage", "turn", "idle"];
	expect(events.map(({ type }) => type).sort()).toEqual([...types, "agent_settled"].sort());
	expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
	expect(events.every(({ at }) => Number.isInteger(at))).toBe(true);
	expect(await world.read("transcript.log")).toBe("Done.\n");
	expect(await world.read("stdout.log")).toContain('"agent_settled"');
	expect(await world.heard()).toEqual(["Look around and report."]);
	expect(await world.survivors()).toEqual([]);
});

test.each([
	["that lingers after its last word", "lingers", { exitSignal: "SIGTERM" }],
	["that ignores the polite signal", "stubborn", { exitSignal: "SIGKILL" }],
	["that leaves children behind", "family", { exitCode: 0 }],
])("a pi %s has completed nevertheless, and nothing of it is left", async (_how, scenario, exit) => {
	await using world = await fakeWorld(scenario);
	const { result } = await world.run();
	expect(result).toMatchObject({ outcome: completed, ...exit });
	expect(await world.survivors()).toEqual([]);
});

test("a process that holds pi's output open is not waited for", async () => {
	await using world = await fakeWorld("leaks");
	expect((await world.run()).result?.outcome).toEqual(completed);
});

test("lines that are not events are skipped, including broken characters and endless lines", async () => {
	await using world = await fakeWorld("messy");
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "completed", text: "Grüße 🎉\u2028und mehr" });
	const notices = (await world.events()).filter(({ type }) => type === "notice");
	expect(notices).toEqual([expect.objectContaining({ text: expect.stringMatching(/of 50\.0 MB.*at most 8 MB/) })]);
	expect(await world.survivors()).toEqual([]);
});

test("a pi that dies before it says anything has failed, and says why", async () => {
	await using world = await fakeWorld("dies");
	const { code, result } = await world.run();
	expect(code).toBe(0);
	expect(result).toMatchObject({
		outcome: {
			status: "failed",
			error: "pi ended with exit code 3 before the agent had answered:\nNo such model: fake/two",
		},
		exitCode: 3,
	});
	expect(await world.read("stderr.log")).toContain("No such model");
	expect(await world.survivors()).toEqual([]);
});

test("a pi that cannot be started has failed", async () => {
	await using world = await fakeWorld("answers", { spec: { cwd: "/" }, launch: { command: "/nowhere/pi" } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({
		status: "failed",
		error: "pi could not be started as /nowhere/pi in /: spawn /nowhere/pi ENOENT",
	});
});

test("a pi that refuses the task has failed with its reason", async () => {
	await using world = await fakeWorld("refuses");
	expect((await world.run()).result?.outcome).toEqual({ status: "failed", error: "No API key found for fake." });
	expect(await world.survivors()).toEqual([]);
});

test("what follows an answer at once shows that it was none; other output does not", async () => {
	await using world = await fakeWorld("continues");
	const { result } = await world.run();
	expect(result).toMatchObject({ outcome: { status: "completed", text: "Really done." }, toolUses: 1 });
	expect(await world.read("stdout.log")).toContain("npm notice");
	expect(await world.survivors()).toEqual([]);
});

test.each([
	["retry", "retries", "Recovered."],
	["compaction", "compacts", "Done."],
])("a %s is waited for", async (_what, scenario, text) => {
	await using world = await fakeWorld(scenario);
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "completed", text });
	expect((await world.events()).slice(-2).map(({ type }) => type)).toEqual(["idle", "agent_settled"]);
	expect(await world.survivors()).toEqual([]);
});

test("a failed last message is a failure, whatever the exit code", async () => {
	await using world = await fakeWorld("fails");
	const { result } = await world.run();
	expect(result).toMatchObject({
		outcome: { status: "failed", error: "out of credit", partialText: "So far so good." },
		stopReason: "error",
	});
	expect(await world.survivors()).toEqual([]);
});

test("a pi that is killed has failed, and what it was running ends too", async () => {
	await using world = await fakeWorld("killed");
	const { result } = await world.run();
	expect(result).toMatchObject({
		outcome: { status: "failed", error: "pi was ended by SIGKILL before the agent had answered." },
		exitSignal: "SIGKILL",
		toolUses: 1,
	});
	expect(await world.survivors()).toEqual([]);
});

test("without a watcher dialogs of other extensions are dismissed; what they say is in the log, and their failures", async () => {
	await using world = await fakeWorld("dialogs");
	expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Other: undefined" });
	expect((await world.events()).filter(({ type }) => type === "notice")).toMatchObject([
		{ text: "hello", level: "info" },
		{ text: "The extension /x.ts failed in turn_end: boom" },
	]);
});
