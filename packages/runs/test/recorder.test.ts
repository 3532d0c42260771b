import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { AppendLog } from "../../core/src/files/append-log.ts";
import { FileThread, fileThread } from "../../core/src/files/file-thread.ts";
import type { ChildEvent, LaunchOptions, ManagerOptions, RunSpec } from "../../core/src/index.ts";
import { identityOf } from "../../core/src/signals/identity.ts";
import { fakeRunner } from "../../core/src/testing/index.ts";
import { reading, said, spec } from "../../core/test/fixtures/events.ts";
import { setUp } from "../../core/test/fixtures/manager.ts";
import { RUN_FILES } from "../src/format/layout.ts";
import { parseEvent, readMeta, readResult } from "../src/read.ts";
import { type RecorderOptions, recordRuns } from "../src/recorder.ts";

const usage = { input: 10, output: 5, cacheRead: 1, cacheWrite: 2, cost: 0.5 };

/** A manager whose runs are recorded in a directory of their own. */
async function world(options: Partial<RecorderOptions> = {}, managing: Partial<ManagerOptions> = {}) {
	const temp = await createTempDir();
	const runsDir = join(temp.path, "runs");
	await mkdir(runsDir);
	const reports: string[] = [];
	const made = setUp(managing);
	const { manager } = made;
	const recorder = recordRuns({
		store: manager.store,
		specOf: (id) => manager.specOf(id),
		report: (message) => void reports.push(message),
		...options,
	});
	const spawn = (change: Partial<RunSpec> = {}, launch: LaunchOptions = {}) =>
		made.spawn({ runsDir, ...change }, launch);
	const read = (run: string, name: keyof typeof RUN_FILES) => readFile(join(runsDir, run, RUN_FILES[name]), "utf8");
	const events = async (run: string) => (await read(run, "events")).trim().split("\n").map(parseEvent);
	return { ...made, spawn, runsDir, reports, recorder, read, events, [Symbol.asyncDispose]: temp.remove };
}

describe("a run inside this process", () => {
	test("has its files before anything that it writes itself", async () => {
		await using at = await world();
		at.spawn();
		await at.recorder.flush(); // from here on it is known who this process is
		at.spawn();
		const beside = { does: "create", path: join(at.runsDir, "a2", "beside"), text: "" } as const;
		expect(await fileThread.take([beside])).toEqual([undefined]);
		expect(await readMeta(join(at.runsDir, "a2"))).toMatchObject({ agentId: "a2" });
	});

	test("keeps the files that a wrapper would keep, and nobody else may read them", async () => {
		await using at = await world({ parentSessionId: () => "s1" });
		at.clock.advance(1_000);
		const agent = at.spawn({
			systemPrompt: { mode: "append", text: "You are a scout." },
			presetSource: "/project/scout.md",
			requestedModel: "one",
		});
		at.clock.advance(1_000);
		agent.run.emit(reading("a.ts"));
		agent.run.emit({ type: "tool_result", callId: "a.ts", tool: "read", isError: false });
		agent.run.emit({ type: "usage", usage });
		agent.run.emit({ type: "turn" });
		agent.run.emit({ type: "assistant_text", text: "Found it.", stopReason: "stop", model: "fake/served" });
		at.clock.advance(1_000);
		agent.run.settle({ status: "completed", text: "Found it." });
		await at.heard();
		await at.recorder.flush();

		const dir = join(at.runsDir, "a1");
		expect((await readdir(dir)).sort()).toEqual([
			".gitignore",
			"events.jsonl",
			"meta.json",
			"result.json",
			"stderr.log",
			"stdout.log",
			"system-prompt.md",
			"transcript.log",
		]);
		expect((await stat(dir)).mode & 0o777).toBe(0o700);
		for (const name of await readdir(dir)) expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
		const { agentId: _id, run: _run, artifacts: _dir, launchInfo: _launch, ...launched } = agent.run.spec;
		expect(await readMeta(dir)).toEqual({
			format: 1,
			holder: await identityOf(process.pid),
			createdBy: "pi-subagents",
			runId: "a1",
			agentId: "a1",
			run: 1,
			createdAt: 1_000,
			queuedAt: 1_000,
			launchedBy: { who: "model" },
			depth: 1,
			isBackground: false,
			parentSessionId: "s1",
			preset: "scout",
			presetSource: "/project/scout.md",
			task: spec.task,
			cwd: "/project",
			tools: ["read"],
			systemPrompt: "You are a scout.",
			systemPromptPath: join(dir, "system-prompt.md"),
			requestedModel: "one",
			resolvedModel: "fake/one",
			spec: launched,
		});
		expect(await at.read("a1", "systemPrompt")).toBe("You are a scout.");
		expect((await at.events("a1")).map((event) => [event?.type, event?.at])).toEqual([
			["agent_queued", 1_000],
			["agent_started", 1_000],
			...["tool_call", "tool_result", "usage", "turn", "assistant_text"].map((type) => [type, 2_000]),
			["agent_settled", 3_000],
		]);
		expect(await at.read("a1", "transcript")).toBe("Reading a.ts\nFinished reading a.ts\nFound it.\n");
		expect(await readResult(dir)).toEqual({
			format: 1,
			runId: "a1",
			agentId: "a1",
			run: 1,
			writtenBy: "parent",
			outcome: { status: "completed", text: "Found it." },
			finalText: "Found it.",
			stopReason: "stop",
			resolvedModel: "fake/served",
			startedAt: 1_000,
			completedAt: 3_000,
			durationMs: 2_000,
			turns: 1,
			toolUses: 1,
			usage,
		});
		expect(at.reports).toEqual([]);
	});

	test("shares the file of its prompt with the run before, if that has the same", async () => {
		await using at = await world();
		for (const text of ["You are a scout.", "You are a scout.", "You are a judge."])
			at.spawn({ systemPrompt: { mode: "append", text } });
		await at.recorder.flush();
		const ids = ["a1", "a2", "a3"];
		expect(await Promise.all(ids.map((id) => at.read(id, "systemPrompt")))).toEqual([
			"You are a scout.",
			"You are a scout.",
			"You are a judge.",
		]);
		const files = await Promise.all(ids.map((id) => stat(join(at.runsDir, id, RUN_FILES.systemPrompt))));
		const [first, second, third] = files.map(({ ino }) => ino);
		expect(second).toBe(first);
		expect(third).not.toBe(first);
	});

	test("knows who launched it, in which call, and what was decided about it", async () => {
		await using at = await world({}, { audience: { sessionCanAnswer: () => false, userCanAnswer: () => true } });
		const root = at.spawn({ subagents: "*" }, { launchedBy: "user", name: "Ada" });
		const child = at.spawn({}, { parentAgentId: root.id, callId: "call_7", isBackground: true });
		const meta = async (id: string) => readMeta(join(at.runsDir, id));
		child.run.emit(said("Hm."));
		const asked = at.manager.ask(child.id, { question: "Which?" });
		at.manager.answer(child.id, "This one.", "user");
		await asked;
		at.manager.steer(child.id, "Faster.");
		child.run.answer("Done.");
		root.run.answer("Done, too.");
		await at.heard();
		await at.recorder.flush();
		expect(await meta(root.id)).toMatchObject({ launchedBy: { who: "user" }, depth: 1, name: "Ada" });
		const launchedBy = { who: "model", agentId: root.id, callId: "call_7" };
		expect(await meta(child.id)).toMatchObject({ launchedBy, depth: 2, isBackground: true });
		const events = await at.events(child.id);
		expect(events.filter((event) => event?.type.startsWith("agent_"))).toEqual([
			{ type: "agent_queued", at: 0, seq: expect.any(Number) },
			{ type: "agent_started", at: 0, seq: expect.any(Number) },
			{ type: "agent_asked", at: 0, seq: expect.any(Number), question: "Which?", to: "agent", toName: "Ada" },
			{ type: "agent_answered", at: 0, seq: expect.any(Number), by: "user" },
			{ type: "agent_steered", at: 0, seq: expect.any(Number), message: "Faster." },
			{ type: "agent_settled", at: 0, seq: expect.any(Number), status: "completed" },
		]);
		const order = events.map((event) => event?.seq ?? 0);
		expect(order).toEqual(order.toSorted((a, b) => a - b));
	});

	test("has a directory of its own for each time it is resumed, and counts anew", async () => {
		await using at = await world();
		const agent = at.spawn();
		agent.run.emit({ type: "turn" });
		agent.run.answer("one");
		await at.heard();
		at.manager.resume(agent.id, { ...spec, runsDir: at.runsDir, task: "Again." });
		agent.run.emit({ type: "turn" });
		agent.run.answer("two");
		await at.heard();
		await at.recorder.flush();
		expect((await readdir(at.runsDir)).sort()).toEqual(["a1", "a1-2"]);
		expect(await readResult(join(at.runsDir, "a1-2"))).toMatchObject({ run: 2, turns: 1, finalText: "two" });
		expect(await readMeta(join(at.runsDir, "a1-2"))).toMatchObject({ runId: "a1-2", task: "Again." });
	});

	test("has its result after a shutdown, also if it was still queued", async () => {
		await using at = await world({}, { slots: { maxConcurrent: 1, whenFull: "queue" } });
		const agents = [at.spawn(), at.spawn()];
		agents[0]?.run.emit(said("Halfway."));
		at.clock.advance(5_000);
		await at.manager.shutdown();
		await at.recorder.flush();
		expect(await readResult(join(at.runsDir, "a1"))).toMatchObject({
			outcome: { status: "aborted", by: "shutdown", partialText: "Halfway." },
			finalText: "Halfway.",
			completedAt: 5_000,
		});
		expect(await readResult(join(at.runsDir, "a2"))).toMatchObject({ startedAt: 0, completedAt: 5_000 });
	});

	test("never waits for the disk: what it does before there is even a directory is all there, in order", async () => {
		await using at = await world();
		const agent = at.spawn();
		expect(agent.status()).toBe("running");
		for (let step = 0; step < 5_000; step++) agent.run.emit(said(`step ${step}`));
		await at.recorder.flush();
		const events = await at.events("a1");
		expect(events.splice(0, 2).map((event) => event?.type)).toEqual(["agent_queued", "agent_started"]);
		expect(events).toHaveLength(5_000);
		expect(events.every((event, index) => event?.type === "assistant_text" && event.text === `step ${index}`)).toBe(
			true,
		);
		expect(existsSync(join(at.runsDir, "a1", RUN_FILES.result))).toBe(false);
	});

	test("is left to its wrapper if it has one, and keeps nothing without a place for it", async () => {
		const runners = { session: fakeRunner(), process: fakeRunner() };
		await using at = await world({}, { runners });
		at.manager.spawn({ ...spec, runner: "process", runsDir: at.runsDir });
		at.manager.spawn(spec);
		await at.manager.shutdown();
		await at.recorder.flush();
		expect(await readdir(at.runsDir)).toEqual([]);
	});
});

describe("the conversation", () => {
	test("is put beside the other files before the result is there", async () => {
		const order: string[] = [];
		await using at = await world({
			conversationOf: (agentId) => {
				order.push(`launched ${agentId}`);
				return async (path) => {
					order.push(existsSync(join(path, "..", RUN_FILES.result)) ? "too late" : "in time");
					await writeFile(path, "{}\n");
				};
			},
		});
		at.spawn().run.answer("done");
		await at.heard();
		await at.recorder.flush();
		expect(order).toEqual(["launched a1", "in time"]);
		expect(await at.read("a1", "session")).toBe("{}\n");
	});

	test("that cannot be had is told in the result, which is there all the same", async () => {
		await using at = await world({
			conversationOf: () => async () => {
				throw new Error("no space left");
			},
		});
		at.spawn().run.answer("done");
		await at.heard();
		await at.recorder.flush();
		const lost = ["child-session.jsonl: no space left"];
		expect(await readResult(join(at.runsDir, "a1"))).toMatchObject({ outcome: { status: "completed" }, lost });
		expect(at.reports).toEqual(["Not all of run a1 is kept. child-session.jsonl: no space left"]);
	});
});

describe("a disk that does not do its part", () => {
	test("costs what could not be written, never the result, and is told once", async () => {
		await using at = await world();
		const { run } = at.spawn();
		run.emit(said("one"));
		await at.recorder.flush();
		const path = (name: keyof typeof RUN_FILES) => join(at.runsDir, "a1", RUN_FILES[name]);
		await rm(path("events"));
		await symlink("/dev/full", path("events"));
		await rm(path("transcript"));
		await mkdir(path("transcript"));
		for (const text of ["two", "three"]) {
			run.emit(said(text));
			await at.recorder.flush();
		}
		run.answer("four");
		await at.heard();
		await at.recorder.flush();
		const result = await readResult(join(at.runsDir, "a1"));
		expect(result).toMatchObject({ outcome: { status: "completed", text: "four" } });
		expect(result?.lost?.toSorted()).toEqual([
			expect.stringMatching(/^events\.jsonl: it is a link/),
			expect.stringMatching(/^transcript\.log: EISDIR/),
		]);
		expect(at.reports).toEqual([`Not all of run a1 is kept. ${result?.lost?.join("; ")}`]);
	});

	test("that has room again gets what comes then, on a line of its own", async () => {
		await using at = await world();
		const { run } = at.spawn();
		await at.recorder.flush();
		const path = join(at.runsDir, "a1", RUN_FILES.events);
		await rm(path);
		await mkdir(path);
		run.emit(said("lost"));
		await at.recorder.flush();
		await rm(path, { recursive: true });
		await writeFile(path, '{"type":"assistant_text","te'); // what a full disk left of it
		run.emit(said("kept"));
		await at.recorder.flush();
		expect((await at.events("a1")).map((event) => event && "text" in event && event.text)).toEqual([undefined, "kept"]);
	});

	test("without a place for the directory is told at once, and the run goes on", async () => {
		await using at = await world();
		const agent = at.spawn({ runsDir: join(at.runsDir, "missing") });
		await at.recorder.flush();
		expect(at.reports).toEqual([expect.stringMatching(/^Nothing of run a1 is kept: ENOENT/)]);
		agent.run.answer("done");
		await at.heard();
		await at.recorder.flush();
		expect([agent.status(), at.reports.length]).toEqual(["completed", 1]);
	});

	test("on which somebody else has the directory is left as it is", async () => {
		await using at = await world();
		await mkdir(join(at.runsDir, "a1"));
		await writeFile(join(at.runsDir, "a1", RUN_FILES.events), "theirs\n");
		at.spawn().run.answer("done");
		await at.heard();
		await at.recorder.flush();
		expect(await readdir(join(at.runsDir, "a1"))).toEqual([RUN_FILES.events]);
		expect(await at.read("a1", "events")).toBe("theirs\n");
	});

	test("without room for the result is told", async () => {
		await using at = await world();
		const agent = at.spawn();
		await at.recorder.flush();
		await rm(join(at.runsDir, "a1"), { recursive: true });
		agent.run.answer("done");
		await at.heard();
		await at.recorder.flush();
		expect(at.reports).toEqual([expect.stringMatching(/result\.json: ENOENT/)]);
	});

	test("and is too slow does not fill the memory: what waits is bounded, the rest left out", async () => {
		await using temp = await createTempDir();
		const path = join(temp.path, "slow.log");
		const lost: string[] = [];
		const disk = Promise.withResolvers<boolean>();
		const thread = new FileThread();
		const onLost = (what: string) => void lost.push(what);
		const log = new AppendLog({ path, thread, hasPlace: disk.promise, durable: false, onLost });
		const megabyte = "x".repeat(1024 * 1024 - 1);
		for (let count = 0; count < 40; count++) log.add(megabyte);
		disk.resolve(true);
		await log.flush();
		log.add("after");
		await log.flush();
		await thread.close();
		const lines = (await readFile(path, "utf8")).trim().split("\n");
		expect([lines.length, lines.at(-1)]).toEqual([17, "after"]);
		expect(lost).toEqual(["slow.log: the disk is too slow"]);
	});

	test("gets no line that nobody could read again", async () => {
		await using at = await world();
		const { run } = at.spawn();
		const huge: ChildEvent = { type: "tool_call", tool: "write", args: { content: "x".repeat(9 * 1024 * 1024) } };
		run.emit(huge);
		run.answer("done");
		await at.heard();
		await at.recorder.flush();
		expect((await at.events("a1")).map((event) => event?.type)).toEqual([
			"agent_queued",
			"agent_started",
			"assistant_text",
			"idle",
			"agent_settled",
		]);
		const result = await readResult(join(at.runsDir, "a1"));
		expect(result?.lost).toEqual([expect.stringMatching(/^events\.jsonl: a line of 94\d+ bytes is too long/)]);
		expect(result?.toolUses).toBe(1);
	});
});
