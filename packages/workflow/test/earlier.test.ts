/** An agent that its workflow had launched before, when the workflow is resumed. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Manager, systemClock } from "@pi-subagents/core";
import { fakeRunner, sampleSpec } from "@pi-subagents/core/testing";
import { isWatched, prepareRunsDir, recordRuns } from "@pi-subagents/runs";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { agentPort } from "../src/session/agent-port.ts";
import { rejoin } from "../src/session/earlier.ts";

test("one that was stopped in this moment continues, though its files were still to be written", async () => {
	await using dir = await createTempDir();
	const session = fakeRunner((run) => run.spec.run > 1 && run.answer("found it"));
	let launched = 0;
	const manager = new Manager({ runners: { session }, clock: systemClock, newId: () => `a${++launched}` });
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
	const { dir: runsDir } = await prepareRunsDir(dir.path);
	const spec = { ...sampleSpec, runsDir };
	const sessionDir = join(dir.path, "conversations");
	await mkdir(join(sessionDir, "a1"), { recursive: true });
	await writeFile(join(sessionDir, "a1", "conversation.jsonl"), "{}\n");
	manager.spawn(spec);
	manager.abort("a1", { by: "parent" });
	await manager.wait("a1");

	const agent = agentPort({
		manager,
		resolve: async ({ task }) => ({ ...spec, task }),
		places: { agentDir: dir.path, runsDir, sessionDir, sessionId: undefined },
		flushLogs: recorder.flush,
		placing: { parentAgentId: "w1", depth: 2, isBackground: true },
	});
	const call = { label: "look", signal: new AbortController().signal, onLaunched: () => undefined };
	const result = await agent({ prompt: "Look." }, { ...call, previous: { agentId: "a1", run: 1 } } as never);
	await recorder.close();

	expect(result).toMatchObject({ status: "completed", text: "found it" });
	expect(session.runs.map(({ spec: { agentId, run, task } }) => [agentId, run, task.split(".")[0]])).toEqual([
		["a1", 1, "Look around"],
		["a1", 2, "Your work on this task was interrupted"],
	]);
});

test("one that still runs is not kept from others by a session that ends while it is rejoined", async () => {
	await using dir = await createTempDir();
	const [agentDir, artifacts] = [join(dir.path, "agent"), join(dir.path, "a1")];
	await mkdir(artifacts);
	const manager = new Manager({ runners: { process: fakeRunner() }, clock: systemClock, newId: () => "unused" });
	await manager.shutdown();
	const meta = { agentId: "a1", run: 1, createdAt: 1, spec: { ...sampleSpec, runner: "process", outlives: true } };
	const fate = { kind: "running" as const, meta: meta as never, artifacts };
	const placing = { parentAgentId: "w1", depth: 2, isBackground: true };
	await expect(rejoin(manager, fate, placing, { agentDir, sessionId: "s1" })).rejects.toThrow("The session is ending");
	const [noted = ""] = await readdir(join(agentDir, "state", "subagents", "processes"));
	const owners = await readdir(join(agentDir, "state", "subagents", "processes", noted));
	expect(owners.sort()).toEqual(["owner-1.json", "owner-2.json"]);
	expect(await isWatched({ agentDir, runDir: artifacts })).toBe(false);
});
