import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hang, type Rule, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { Manager, systemClock } from "../../../core/src/index.ts";
import { RUN_FILES } from "../../../runs/src/format/layout.ts";
import { readMeta, readResult } from "../../../runs/src/read.ts";
import { recordRuns } from "../../../runs/src/recorder.ts";
import { prepareRunsDir } from "../../../runs/src/runs-dir.ts";
import { conversationOf, sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

/** Real pi sessions, recorded in their project. */
async function recordedWorld(script: Rule) {
	const world = await sessionWorld(script);
	const sessionDir = join(world.dir, "sessions");
	const { dir: runsDir } = await prepareRunsDir(world.spec.cwd);
	const reports: string[] = [];
	const report = (message: string) => void reports.push(message);
	const host = { ...world.host, sessionDir: () => sessionDir, report };
	const runner = sessionRunner(host);
	const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId: () => "a1" });
	const recorder = recordRuns({
		...host,
		store: manager.store,
		specOf: (id) => manager.specOf(id),
		conversationOf: conversationOf(host),
	});
	const { agentId: _id, run: _run, ...spec } = world.spec;
	return { ...world, manager, recorder, reports, spec: { ...spec, runsDir }, dir: join(runsDir, "a1") };
}

test("a pi session that is recorded leaves its conversation, its answer and what people read of it", async () => {
	await using world = await recordedWorld(() => say("Found it."));
	const { id } = world.manager.spawn(world.spec);
	await world.manager.wait(id);
	await world.recorder.flush();
	const result = await readResult(world.dir);
	expect(result).toMatchObject({ outcome: { status: "completed", text: "Found it." }, stopReason: "stop", turns: 1 });
	expect(result?.resolvedModel).toBe(world.spec.model);
	expect(await readMeta(world.dir)).toMatchObject({ spec: world.spec });
	expect(await readFile(join(world.dir, RUN_FILES.session), "utf8")).toContain("Found it.");
	expect(await readFile(join(world.dir, RUN_FILES.transcript), "utf8")).toBe("Found it.\n");
	expect(world.reports).toEqual([]);
});

test("a pi session that ends with its parent has its result when that has written everything", async () => {
	await using world = await recordedWorld(() => hang());
	world.manager.spawn(world.spec);
	await world.model.nextRequest();
	await world.manager.shutdown();
	await world.recorder.flush();
	expect(await readResult(world.dir)).toMatchObject({ outcome: { status: "aborted", by: "shutdown" }, turns: 0 });
	expect(world.reports).toEqual([]);
});
