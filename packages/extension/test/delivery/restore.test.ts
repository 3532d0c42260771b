import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFile, open, spec } from "../fixtures/fake-session.ts";

/** A run in a process of its own, as a session remembers it and as its files describe it. */
async function remembered() {
	const root = await mkdtemp(join(await realpath(tmpdir()), "pi-restore-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const artifacts = join(root, ".pi", "subagents", "runs", "b1");
	await mkdir(artifacts, { recursive: true, mode: 0o700 });
	const about = { runId: "b1", agentId: "b1", run: 1, preset: "scout", task: spec.task, cwd: spec.cwd };
	const meta = {
		format: 1,
		createdBy: "pi-subagents",
		...about,
		createdAt: 1,
		tools: [],
		resolvedModel: "fake/one",
		spec: { ...spec, runner: "process", outlives: true },
	};
	await writeFile(join(artifacts, "meta.json"), JSON.stringify(meta));
	const launch = { type: "launched", ...about, description: "look around", runner: "process", isBackground: true };
	const file = newFile();
	const data = { ...launch, artifacts, startedAt: 1 };
	file.entries.push({ id: "e1", parentId: null, type: "custom", customType: "pi-subagents:bg-run", data });
	file.leaf = "e1";
	return { file, agentDir: join(root, "agent"), artifacts };
}

test("a run that cannot be rejoined because the disk is full is rejoined when there is room again", async () => {
	const { file, agentDir } = await remembered();
	const inTheWay = join(agentDir, "state", "subagents", "processes");
	await mkdir(dirname(inTheWay), { recursive: true });
	await writeFile(inTheWay, ""); // as good as a disk that is read-only: nobody can say that they watch it
	const it = await open(file, { agentDir });
	await expect.poll(() => it.told).toEqual([expect.stringContaining("watching agent b1 again")]);
	expect(it.run("b1")).toBeUndefined();
	await rm(inTheWay, { recursive: true });
	it.clock.advance(15_000);
	await expect.poll(() => it.run("b1")).toBeDefined();
	await it.answer("b1", "All doors.");
	expect(it.sent).toEqual([{ content: expect.stringContaining("All doors."), startsTurn: false }]);
});
