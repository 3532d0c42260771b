/** Checkouts that only the files of a run name: closing one removes a directory, so the name alone does not count. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { RunIdentity, RunSpec } from "../../../core/src/index.ts";
import { deadProcess, resultOf, runDir } from "../../../runs/test/fixtures/run-dir.ts";
import { worktreeRunner } from "../../../worktree/src/index.ts";
import { type Repo, repo } from "../../../worktree/test/fixture.ts";
import { processRunner } from "../../src/process/index.ts";
import { withWorktree } from "../../src/process/wrapper/worktree.ts";
import { runSpec } from "../fixtures/process.ts";

const isolation = { kind: "worktree", base: "head" } as const;

/** Rejoins a run that is lost, with a spec that names this checkout. */
async function rejoin(it: Repo, confinedTo: NonNullable<RunSpec["confinedTo"]>) {
	const dir = await runDir();
	await dir.wrappedBy(await deadProcess());
	const { agentDir } = dir.place;
	const inner = processRunner({ agentDir, isProjectTrusted: () => false });
	const spec: RunSpec & RunIdentity & { artifacts: string } = {
		...{ ...runSpec, cwd: it.main, isolation, confinedTo, artifacts: dir.path },
	};
	return worktreeRunner(inner, { dir: it.dir, git: it.git }).attach?.(spec, () => undefined).settled;
}

test("a directory of the user that a planted record calls a checkout is not removed", async () => {
	const it = await repo();
	const precious = join(dirname(it.main), "precious");
	const planted = join(dirname(it.main), "planted");
	for (const each of [precious, planted]) await mkdir(each);
	await writeFile(join(precious, "thesis.md"), "years of work");
	const record = { ...(await it.open()), name: "precious", root: precious, cwd: precious, records: planted };
	const { gitDir: _, ...forged } = record;
	await writeFile(join(planted, "precious.json"), JSON.stringify(forged));
	const outcome = await rejoin(it, { root: precious, records: planted, origin: it.main, watches: [] });
	expect(outcome).toMatchObject({ status: "aborted", by: "lost" });
	expect(outcome?.worktree).toBeUndefined();
	expect(await readdir(precious)).toEqual(["thesis.md"]);
});

test("the checkout of another agent is not closed", async () => {
	const it = await repo();
	const other = await it.open({ id: "b2" });
	await writeFile(join(other.root, "half.txt"), "not finished");
	const confinedTo = { root: other.root, origin: it.main, watches: [] };
	expect((await rejoin(it, confinedTo))?.worktree).toBeUndefined();
	// Nor by an agent on another machine that it launched, when that one is lost.
	const outcome = { status: "aborted", by: "lost" } as const;
	const result = await withWorktree(resultOf(outcome), { isolation, confinedTo });
	expect(result.outcome).toEqual(outcome);
	expect(await readdir(other.root)).toContain("half.txt");
});

test("its own is", async () => {
	const it = await repo();
	const own = await it.open();
	await writeFile(join(own.root, "new.txt"), "done");
	const outcome = await rejoin(it, { root: own.root, origin: it.main, watches: [] });
	expect(outcome?.worktree).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
});
