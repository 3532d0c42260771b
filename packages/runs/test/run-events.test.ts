import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Manager, type RunSpec } from "../../core/src/index.ts";
import { fakeRunner, handClock } from "../../core/src/testing/index.ts";
import { readRun } from "../src/claims/read-run.ts";
import type { EventLine } from "../src/format/lines.ts";
import { recordRuns } from "../src/recorder.ts";
import { eventsOfRun, type KnownRun, knownRun, recordOfRun } from "../src/run-events.ts";

const agent = {
	type: "scout",
	description: "look",
	task: "Look.",
	cwd: "/project",
	runner: "process",
	depth: 1,
	isBackground: true,
} as const;

function knownWith(lines: EventLine[], more: Partial<KnownRun> = {}): KnownRun {
	return { agentId: "a1", run: 1, agent, queuedAt: 1_000, lines, ...more };
}

/** An agent that was launched, worked and answered, with its files. */
async function recorded() {
	const runsDir = await mkdtemp(join(tmpdir(), "run-events-"));
	onTestFinished(() => rm(runsDir, { recursive: true, force: true }));
	const [runner, clock] = [fakeRunner(), handClock(1_000)];
	const manager = new Manager({ runners: { workflow: runner }, clock, newId: () => "a1" });
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
	const spec: RunSpec = {
		...{ type: "scout", description: "look", task: "Look.", cwd: "/", runner: "workflow", model: "fake/one" },
		...{ machine: "ada", launcher: "offline", requestedModel: "one", tools: [], limits: { maxTurns: 9 } },
		...{ given: { thinking: "high" }, origins: {}, warnings: [], runsDir },
	};
	manager.spawn(spec, { name: "ada", phase: "Review", launchedBy: "rpc", callId: "c1", isBackground: true });
	const [run] = runner.runs;
	clock.advance(100);
	run?.emit({ type: "assistant_text", text: "On it.", model: "fake/two" });
	run?.emit({ type: "usage", usage: { input: 5, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.5 } });
	run?.emit({ type: "tool_call", callId: "t1", tool: "read", args: { path: "a" } });
	run?.emit({ type: "tool_result", callId: "t1", tool: "read", isError: false });
	run?.emit({ type: "turn", contextPercent: 12 });
	clock.advance(50);
	run?.answer("Done.");
	await manager.wait("a1");
	await recorder.close();
	return { dir: join(runsDir, "a1"), seen: manager.store.record("a1") };
}

test("a record that is read from the files of a run is the one of the process that saw it", async () => {
	const { dir, seen } = await recorded();
	const run = await readRun(dir);
	if (typeof run === "string") throw new Error(run);
	const { artifacts, ...whole } = { ...seen };
	expect(artifacts).toBe(dir);
	expect(recordOfRun(knownRun(run.meta, run.lines, run.result))).toEqual(whole);
});

test("files of versions that did not write down the launch are read", async () => {
	const { dir } = await recorded();
	const path = join(dir, "meta.json");
	const { queuedAt, depth, isBackground, launchedBy, name, phase, ...old } = JSON.parse(await readFile(path, "utf8"));
	expect([queuedAt, depth, isBackground]).toEqual([1_000, 1, true]);
	await writeFile(path, JSON.stringify(old));
	const run = await readRun(dir);
	if (typeof run === "string") throw new Error(run);
	const known = knownRun(run.meta, run.lines, run.result);
	expect(known).toMatchObject({ queuedAt: 1_000, agent: { depth: 1, isBackground: false } });
	expect(recordOfRun(known)).toMatchObject({ status: "completed", turns: 1 });
});

test("a log that says who answered how does not decide that; what cannot be read is said", async () => {
	const { dir } = await recorded();
	await writeFile(join(dir, "result.json"), "{}");
	expect(await readRun(dir)).not.toHaveProperty("result");
	await rm(join(dir, "meta.json"));
	expect(await readRun(dir)).toMatch(/meta\.json does not exist/);
});

test("of several open questions the newest is shown, then the one before it", () => {
	const asked = (id: string, at: number): EventLine => ({ type: "question", id, question: `${id}?`, at });
	const lines: EventLine[] = [asked("q1", 2_000), asked("q2", 2_100)];
	expect(recordOfRun(knownWith(lines))).toMatchObject({ status: "waiting", asking: { id: "q2", question: "q2?" } });
	lines.push(
		{ type: "agent_answered", id: "q2", by: "user", at: 2_200 },
		{ type: "question_over", id: "q2", at: 2_200 },
	);
	expect(recordOfRun(knownWith(lines))).toMatchObject({ status: "waiting", question: "q1?", asking: { id: "q1" } });
	lines.push({ type: "question_over", id: "q1", at: 2_300 });
	const record = recordOfRun(knownWith(lines));
	expect(record).toMatchObject({ status: "running" });
	expect(record).not.toHaveProperty("asking");
});

test("within a run time only passes, and it never began after its end", () => {
	const end = { outcome: { status: "completed", text: "" } as const, completedAt: 500, startedAt: 900 };
	const times = eventsOfRun(knownWith([{ type: "turn", at: 100 }], { end })).map(({ type, at }) => [type, at]);
	expect(times).toEqual([
		["agent_queued", 500],
		["agent_started", 500],
		["turn", 500],
		["agent_settled", 500],
	]);
});

test("a run that was stopped in the queue never began", () => {
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const end = { outcome: { status: "aborted", by: "user" } as const, completedAt: 2_000, startedAt: 1_000, usage };
	const queued: EventLine = { type: "agent_queued", waits: "2 agents run", at: 1_000 };
	expect(recordOfRun(knownWith([queued], { end }))).not.toHaveProperty("startedAt");
	expect(recordOfRun(knownWith([queued]))).toMatchObject({ status: "queued", queuedFor: "2 agents run" });
	expect(recordOfRun(knownWith([], { end: { ...end, neverStarted: true } }))).not.toHaveProperty("startedAt");
	expect(recordOfRun(knownWith([], { end }))).toHaveProperty("startedAt", 1_000);
});
