/** A run in its own process that an opened session rejoins. */
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import { isWatched } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { createDelivery, type Delivery, memorySession } from "../../src/index.ts";

/** The directory of the run, and the session's entry about it. */
async function detached(change: { meta?: object; spec?: object } = {}) {
	const root = await mkdtemp(join(await realpath(tmpdir()), "rejoin-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const artifacts = join(root, ".pi", "subagents", "runs", "b1");
	await mkdir(artifacts, { recursive: true, mode: 0o700 });
	const { type: preset, description, task, cwd } = sampleSpec;
	const about = { runId: "b1", agentId: "b1", run: 1, preset, task, cwd };
	const spec = { ...sampleSpec, runner: "process", outlives: true, ...change.spec };
	const whole = { format: 1, createdBy: "pi-subagents", ...about, createdAt: 1, tools: [], resolvedModel: "m/m", spec };
	const meta = { ...whole, ...change.meta };
	await writeFile(join(artifacts, "meta.json"), JSON.stringify(meta));
	const launch = { type: "launched", ...about, description, runner: "process", isBackground: true, artifacts };
	const entry = { id: "e1", type: "custom", customType: "pi-subagents:bg-run", data: { ...launch, startedAt: 1 } };
	return { agentDir: join(root, "agent"), artifacts, entry };
}

test("is not kept from other processes by a session that is closed while it claims the run", async () => {
	const { agentDir, artifacts, entry } = await detached();
	const clock = handClock();
	const process = fakeRunner();
	const manager = new Manager({ runners: { process }, clock, newId: () => "unused" });
	let hasRead = false;
	let closed: Promise<void> | undefined;
	const delivery: Delivery = createDelivery({
		...memorySession([entry], () => undefined),
		manager,
		clock,
		agentDir,
		sessionId() {
			if (hasRead) closed ??= delivery.sessionEnded(); // the run is just being claimed
			return "s1";
		},
	});
	const started = delivery.sessionStarted();
	hasRead = true;
	await started;
	const records = join(agentDir, "state", "subagents", "processes");
	await expect
		.poll(() => readdir(records, { recursive: true }).catch(() => []))
		.toContainEqual(expect.stringMatching(/owner-2\.json$/));
	await closed;
	expect([await isWatched({ agentDir, runDir: artifacts }), process.runs]).toEqual([false, []]);
});

test.each<[string, Parameters<typeof detached>[0]]>([
	["run", { meta: { runId: "b1-2", run: 2 } }],
	["runner", { spec: { runner: "remote" } }],
	["machine", { spec: { runner: "remote", machine: "box" } }],
])("whose files describe another %s is lost, and nothing is asked of that", async (_what, change) => {
	const { agentDir, entry } = await detached(change);
	const [process, remote] = [fakeRunner(), fakeRunner()];
	const manager = new Manager({ runners: { process, remote }, clock: handClock(), newId: () => "unused" });
	const delivery = createDelivery({ ...memorySession([entry], () => undefined), manager, agentDir });
	await delivery.sessionStarted();
	const outcome = () => manager.store.record("b1")?.outcome;
	await expect.poll(outcome).toMatchObject({ by: "lost", reason: expect.stringContaining("describes another run") });
	expect([process.runs, remote.runs]).toEqual([[], []]);
	await delivery.sessionEnded();
});
