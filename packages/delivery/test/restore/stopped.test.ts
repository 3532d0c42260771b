/** Runs that a session knows to be over, and whose processes it left: it was killed after their stop, or they hung. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { link, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Manager, type Runner } from "@pi-subagents/core";
import { controlPath, identityOf, isAlive, RunProcesses } from "@pi-subagents/core/internal/signals";
import { handClock, sampleSpec } from "@pi-subagents/core/testing";
import { detachedRunner } from "@pi-subagents/runners/detached";
import { claimRun } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { createDelivery, memorySession, type SessionEntry } from "../../src/index.ts";

const STOPPED = { status: "aborted", by: "user", reason: "enough" };
const DONE = { status: "completed", preview: "Two doors." };
const HANGS = "setInterval(() => {}, 1e6)";

/** A process in a group of its own. */
async function started(script = HANGS, ...args: string[]) {
	const stdio = ["ignore", "pipe", "inherit"] as const;
	const child = spawn(process.execPath, ["--input-type=module", "-e", `${script}; console.log("ready")`, ...args], {
		detached: true,
		stdio: [...stdio],
	});
	const exited = once(child, "exit");
	onTestFinished(() => {
		if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
	});
	if (child.stdout) await once(child.stdout, "data");
	return { exited, identity: await identityOf(child.pid ?? 0) };
}

/** A session that says of its run b1 how it ended. */
async function remembered(end: object, { hasMeta = true } = {}) {
	const root = await mkdtemp(join(await realpath(tmpdir()), "stopped-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const artifacts = join(root, ".pi", "subagents", "runs", "b1");
	await mkdir(artifacts, { recursive: true, mode: 0o700 });
	const { type: preset, description, task, cwd } = sampleSpec;
	const about = { runId: "b1", agentId: "b1", run: 1, preset, task, cwd };
	const spec = { ...sampleSpec, runner: "process", outlives: true };
	const meta = { format: 1, createdBy: "pi-subagents", ...about, createdAt: 1, tools: [], resolvedModel: "m/m", spec };
	if (hasMeta) await writeFile(join(artifacts, "meta.json"), JSON.stringify(meta));
	const launch = { type: "launched", ...about, description, runner: "process", isBackground: true, artifacts };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const counts = { completedAt: 3, durationMs: 2, turns: 1, toolUses: 0, usage };
	const settled = { type: "settled", runId: "b1", ...end, ...counts };
	const entries: SessionEntry[] = [
		{ id: "e1", type: "custom", customType: "pi-subagents:bg-run", data: { ...launch, startedAt: 1 } },
		{ id: "e2", type: "custom", customType: "pi-subagents:bg-update", data: settled },
		{ id: "e3", type: "custom", customType: "pi-subagents:bg-update", data: { type: "closed", runId: "b1" } },
	];
	const place = { agentDir: join(root, "agent"), runDir: artifacts };
	return { place, entries, processes: new RunProcesses(place), control: controlPath(place) };
}

/** Opens it. Time passes fast. */
async function open({ place, entries }: Awaited<ReturnType<typeof remembered>>) {
	const clock = handClock(1_000);
	const { agentDir } = place;
	const passing = setInterval(() => clock.advance(100), 5);
	onTestFinished(() => clearInterval(passing));
	const warnings: string[] = [];
	const warn = (message: string) => void warnings.push(message);
	const runner: Runner = detachedRunner(
		{ agentDir, clock, report: warn },
		{
			launch: () => Promise.reject(new Error("nothing is launched here")),
			processesOf: (_spec, runDir) => new RunProcesses({ agentDir, runDir }),
		},
	);
	const manager = new Manager({ runners: { process: runner }, clock, newId: () => "unused" });
	const session = memorySession(entries, () => undefined);
	const delivery = createDelivery({ ...session, manager, agentDir, sessionId: () => "s1", clock, warn });
	await delivery.sessionStarted();
	onTestFinished(async () => {
		await delivery.sessionEnded();
		await manager.shutdown();
	});
	return { manager, warnings };
}

const records = ({ agentDir }: { agentDir: string }) =>
	readdir(join(agentDir, "state", "subagents", "processes")).catch(() => []);

test("a wrapper that was stopped and hangs is told again, then killed with its pi, and no record of them stays", async () => {
	const run = await remembered(STOPPED);
	const [wrapper, pi] = [await started(), await started()];
	await run.processes.recordWrapper(wrapper.identity, 1);
	await run.processes.recordChild(pi.identity);
	const heard = join(run.place.runDir, "heard"); // stays when the file goes with the records
	await writeFile(run.control, "");
	await link(run.control, heard);
	const { manager, warnings } = await open(run);
	await Promise.all([wrapper.exited, pi.exited]);
	expect(await readFile(heard, "utf8")).toContain('{"type":"abort","stop":{"by":"user","reason":"enough"}}\n');
	await expect.poll(() => records(run.place)).toEqual([]);
	expect(warnings).toEqual(["Agent b1 did not stop in 5 s and was killed."]);
	expect(manager.store.record("b1")?.outcome).toEqual({ status: "aborted", by: "user", reason: "enough" });
});

test("a wrapper that had not heard of its stop obeys", async () => {
	const run = await remembered(STOPPED);
	const obeys = `import { existsSync } from "node:fs";
		setInterval(() => { if (existsSync(process.argv[1])) process.exit(); }, 5)`;
	const wrapper = await started(obeys, run.control);
	await run.processes.recordWrapper(wrapper.identity, 1);
	await open(run);
	expect(await wrapper.exited).toEqual([0, null]);
	await expect.poll(() => records(run.place)).toEqual([]);
});

test("a stopped run whose wrapper is gone, or whose files are lost, leaves no pi either", async () => {
	const lost = await remembered(STOPPED, { hasMeta: false });
	const [gone, pi] = [await started("process.stdout.on('finish', () => process.exit())"), await started()];
	await lost.processes.recordWrapper(gone.identity, 1);
	await lost.processes.recordChild(pi.identity);
	await open(lost);
	await pi.exited;
	await expect.poll(() => records(lost.place)).toEqual([]);
});

test("a run that ended by itself is left alone while its wrapper lives, and its records go with that", async () => {
	const run = await remembered(DONE);
	const wrapper = await started();
	await run.processes.recordWrapper(wrapper.identity, 1);
	const ended = await remembered(DONE);
	await ended.processes.recordWrapper({ ...wrapper.identity, born: "long ago" }, 1);
	await open(run);
	await open(ended);
	await expect.poll(() => records(ended.place)).toEqual([]);
	expect([await isAlive(wrapper.identity), await records(run.place)]).toEqual([true, [expect.any(String)]]);
});

test("a stopped run that another pi watches is left to that", async () => {
	const run = await remembered(STOPPED);
	const wrapper = await started();
	await run.processes.recordWrapper(wrapper.identity, 1);
	await claimRun(run.place, { sessionId: "another" });
	const over = await remembered(STOPPED);
	await over.processes.recordWrapper({ ...wrapper.identity, born: "long ago" }, 1);
	await open(run);
	await open(over); // by then the first was looked at, too
	await expect.poll(() => records(over.place)).toEqual([]);
	expect(await isAlive(wrapper.identity)).toBe(true);
	await expect(readFile(run.control)).rejects.toThrow("ENOENT");
});
