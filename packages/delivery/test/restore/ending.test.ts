/** A run in its own process that is just ending when its session is opened again: what its wrapper says last counts. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Manager, systemClock } from "@pi-subagents/core";
import { jsonText } from "@pi-subagents/core/internal/files";
import { identityOf, RunProcesses } from "@pi-subagents/core/internal/signals";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import { claimRun, proveResult, writeResult } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { createDelivery, memorySession, type SessionEntry } from "../../src/index.ts";

const ANSWER = "Two doors.";
const about = { runId: "b1", agentId: "b1", run: 1 };

/** Its child has answered, by its log; its wrapper is `pid`. */
async function ending(pid: number) {
	const root = await mkdtemp(join(await realpath(tmpdir()), "ending-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const artifacts = join(root, ".pi", "subagents", "runs", "b1");
	await mkdir(artifacts, { recursive: true, mode: 0o700 });
	const { type: preset, description, task, cwd } = sampleSpec;
	const spec = { ...sampleSpec, runner: "process" };
	const known = { ...about, preset, task, cwd };
	const meta = { format: 1, createdBy: "pi-subagents", ...known, createdAt: 1, tools: [], resolvedModel: "m/m", spec };
	await writeFile(join(artifacts, "meta.json"), JSON.stringify(meta));
	const events = [{ type: "assistant_text", text: ANSWER, stopReason: "stop" }, { type: "turn" }, { type: "idle" }];
	const lines = events.map((event, index) => JSON.stringify({ at: 2, seq: index + 1, ...event }));
	await writeFile(join(artifacts, "events.jsonl"), `${lines.join("\n")}\n`);
	const agentDir = join(root, "agent");
	await new RunProcesses({ agentDir, runDir: artifacts }).recordWrapper(await identityOf(pid), 1);
	const launch = { type: "launched", ...known, description, runner: "process", isBackground: true, artifacts };
	const entry = { id: "e1", type: "custom", customType: "subagents:record", data: { ...launch, startedAt: 1 } };
	return { artifacts, agentDir, entries: [entry] as SessionEntry[] };
}

function open({ entries, agentDir }: { entries: SessionEntry[]; agentDir: string }, clock = systemClock) {
	const sent: string[] = [];
	const manager = new Manager({ runners: { process: fakeRunner() }, clock, newId: () => "unused" });
	const session = memorySession(entries, ({ content }) => sent.push(content));
	const delivery = createDelivery({ manager, ...session, agentDir, clock });
	return { sent, manager, started: delivery.sessionStarted() };
}

test("a session that is opened waits for a wrapper that is still ending, and believes that", async () => {
	const run = await ending(process.pid);
	const it = open(run);
	const soon = new Promise((resolve) => setImmediate(() => resolve("waits")));
	expect(await Promise.race([it.started.then(() => "opened"), soon])).toBe("waits");
	const times = { startedAt: 1, completedAt: 3, turns: 1, toolUses: 0 };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const outcome = { status: "completed" as const, text: ANSWER, wrappedUp: true as const }; // its log does not say the last
	const result = { format: 1 as const, ...about, writtenBy: "wrapper" as const, outcome, ...times, usage };
	await proveResult({ ...run, runDir: run.artifacts }, jsonText(result));
	await writeResult(run.artifacts, result);
	await it.started;
	expect(it.sent).toEqual([expect.stringContaining(ANSWER)]);
	expect(it.manager.store.record("b1")?.outcome).toEqual(outcome);
});

test("a run that another pi still watches is not waited for: the opened session is a copy", async () => {
	const run = await ending(process.pid);
	await claimRun({ ...run, runDir: run.artifacts }, { sessionId: "another" });
	const it = open(run, handClock()); // time does not pass
	await it.started;
	expect(it.sent).toEqual([expect.stringContaining(ANSWER)]);
});

test("a wrapper that hangs, or is gone, leaves its log to say how the run ended", async () => {
	const clock = handClock();
	const hanging = open(await ending(process.pid), clock);
	const isOpen = hanging.started.then(() => true);
	const aMoment = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 1));
	while (!(await Promise.race([isOpen, aMoment()]))) clock.advance(50);
	expect(hanging.sent).toEqual([expect.stringContaining(ANSWER)]);
	const gone = open(await ending(2 ** 22 + 1), handClock());
	await gone.started;
	expect(gone.sent).toEqual([expect.stringContaining(ANSWER)]);
});
