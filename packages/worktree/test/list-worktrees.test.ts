import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { identityOf } from "../../core/src/signals/identity.ts";
import {
	applyWorktree,
	closeWorktree,
	diffWorktree,
	discardWorktree,
	listWorktrees,
	readWorktreeRecord,
	type WorktreeRecord,
} from "../src/index.ts";
import { type Repo, repo } from "./fixture.ts";

/** As if the process that launched it had been killed. */
async function orphan(record: WorktreeRecord): Promise<WorktreeRecord> {
	const child = spawn("sleep", ["60"]);
	const owner = await identityOf(child.pid ?? 0);
	child.kill("SIGKILL");
	await once(child, "exit");
	const left = { ...record, owner };
	await writeFile(`${record.root}.json`, JSON.stringify(left));
	return left;
}

const list = async (it: Repo) =>
	(await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git })).map(({ record, state, isChanged }) => [
		record.name,
		state,
		isChanged,
	]);

async function kept(
	it: Repo,
	change: (root: string) => Promise<void>,
	base: "head" | "dirty" = "head",
): Promise<WorktreeRecord> {
	const record = await it.open({ base });
	await change(record.root);
	await closeWorktree(record, { git: it.git });
	return (await readWorktreeRecord(record)) ?? record;
}

test("the list shows what is in use, what a crash left, and what waits on a branch", async () => {
	const it = await repo();
	await it.open({ id: "busy" });
	await orphan(await it.open({ id: "clean" }));
	const dirty = await orphan(await it.open({ id: "dirty" }));
	await it.write("new.txt", "new\n", dirty.root);
	const done = await it.open({ id: "done" });
	await it.write("new.txt", "new\n", done.root);
	await closeWorktree(done, { git: it.git });
	await closeWorktree(await it.open({ id: "nothing" }), { git: it.git });
	await writeFile(join(it.dir, "junk.json"), "{}");
	expect(await list(it)).toEqual([
		["busy", "in use", false],
		["dirty", "left", true],
		["done", "kept", true],
	]);
});

if (isFullRun)
	test("what a crash has left can be committed as if it had ended well", async () => {
		const it = await repo();
		const left = await orphan(await it.open());
		await it.write("new.txt", "new\n", left.root);
		expect(await diffWorktree(left, it.git)).toContain("+new");
		expect(await closeWorktree(left, { git: it.git })).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		expect(await list(it)).toEqual([["a1", "kept", true]]);
	});

test("a branch that was merged and deleted is forgotten after a day", async () => {
	const it = await repo();
	await kept(it, (root) => it.write("new.txt", "new\n", root));
	await it.run(["merge", "--quiet", "pi-subagents/a1"]);
	await it.run(["branch", "-d", "--quiet", "pi-subagents/a1"]);
	expect(await list(it)).toEqual([]);
	await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git, now: Date.now() + 2 * 24 * 3_600_000 });
	expect(await readdir(it.dir)).toEqual([]);
});

test("changes are applied to what lies there, uncommitted and unstaged, beside the user's own", async () => {
	const it = await repo();
	const record = await kept(it, async (root) => {
		await it.write("src/a.txt", "one\ntwo\nthree\ntheirs\n", root);
		await it.write("made/by-agent.txt", "new\n", root);
	});
	await it.write("src/a.txt", "mine\ntwo\nthree\n");
	await it.write("own.txt", "staged\n");
	await it.run(["add", "own.txt"]);
	const index = (await it.state())[" index"];
	const preview = await applyWorktree(record, { isDryRun: true, git: it.git });
	expect(preview).toEqual({ files: ["made/by-agent.txt", "src/a.txt"], conflicts: [] });
	expect(await it.read("src/a.txt")).toBe("mine\ntwo\nthree\n");
	expect(await applyWorktree(record, { git: it.git })).toEqual(preview);
	expect(await it.read("src/a.txt")).toBe("mine\ntwo\nthree\ntheirs\n");
	expect(await it.read("made/by-agent.txt")).toBe("new\n");
	expect((await it.state())[" index"]).toBe(index);
	expect(await it.run(["log", "--format=%s"])).toBe("first");
	expect(await applyWorktree(record, { git: it.git })).toEqual({ files: [], conflicts: [] });
});

if (isFullRun)
	test("changes of a branch that began with what was not committed are applied to just that", async () => {
		const it = await repo();
		await it.write("src/a.txt", "mine\ntwo\nthree\n");
		const record = await kept(it, (root) => it.write("src/a.txt", "mine\ntwo\nthree\ntheirs\n", root), "dirty");
		expect(await applyWorktree(record, { git: it.git })).toEqual({ files: ["src/a.txt"], conflicts: [] });
		expect(await it.read("src/a.txt")).toBe("mine\ntwo\nthree\ntheirs\n");
	});

test("a conflict is named, and nothing is changed: with committed, uncommitted, new and ignored files", async () => {
	const it = await repo();
	const record = await kept(it, async (root) => {
		await it.write("src/a.txt", "theirs\n", root);
		await it.write("new.txt", "theirs\n", root);
		await it.write("fine.txt", "fine\n", root);
	});
	await it.write("src/a.txt", "mine\n");
	await it.write("new.txt", "mine\n");
	const before = await it.state();
	expect(await applyWorktree(record, { git: it.git })).toEqual({ files: [], conflicts: ["new.txt", "src/a.txt"] });
	await it.run(["commit", "--quiet", "-a", "-m", "mine"]);
	expect((await applyWorktree(record, { git: it.git })).conflicts).toEqual(["new.txt", "src/a.txt"]);
	await it.run(["reset", "--quiet", "--soft", "HEAD~1"]);
	expect((await it.state())["src/a.txt"]).toBe(before["src/a.txt"]);

	const other = await repo();
	const hidden = await kept(other, async (root) => {
		await other.write(".gitignore", "", root);
		await other.write("ignored/x.txt", "theirs\n", root);
	});
	await other.write("ignored/x.txt", "mine\n");
	expect((await applyWorktree(hidden, { git: other.git })).conflicts).toEqual(["ignored/x.txt"]);
	expect(await other.read("ignored/x.txt")).toBe("mine\n");
	expect(await other.read(".gitignore")).toBe("ignored/\n");
});

test("what is discarded is gone, with its branch and its directory", async () => {
	const it = await repo();
	const before = await it.state();
	await discardWorktree(await kept(it, (root) => it.write("new.txt", "new\n", root)), it.git);
	const left = await orphan(await it.open({ id: "left" }));
	await it.write("new.txt", "new\n", left.root);
	await discardWorktree(left, it.git);
	expect(await it.branches()).toEqual(["main"]);
	expect(await readdir(it.dir)).toEqual([]);
	expect(await it.state()).toEqual(before);
});

test("a branch that the user looks into is not discarded under their feet", async () => {
	const it = await repo();
	const record = await kept(it, (root) => it.write("new.txt", "new\n", root));
	await it.run(["checkout", "--quiet", "pi-subagents/a1"]);
	await expect(discardWorktree(record, it.git)).rejects.toThrow(/checked out/);
	expect(await list(it)).toEqual([["a1", "kept", true]]);
});

if (isFullRun)
	test("a branch that the agent made itself is not discarded, whatever it is called", async () => {
		const it = await repo();
		const record = await it.open();
		await it.run(["checkout", "--quiet", "-b", "pi-subagents/a1x"], record.root);
		await it.write("new.txt", "new\n", record.root);
		await it.run(["add", "."], record.root);
		await it.run(["commit", "--quiet", "-m", "new"], record.root);
		await closeWorktree(record, { git: it.git });
		await discardWorktree((await readWorktreeRecord(record)) ?? record, it.git);
		expect(await it.branches()).toEqual(["main", "pi-subagents/a1x"]);
	});

if (isFullRun)
	test("changes are applied to files whose line ends git converts", async () => {
		const it = await repo();
		await it.run(["config", "core.autocrlf", "true"]);
		const record = await it.open();
		expect(await it.read("src/a.txt", record.root)).toBe("one\r\ntwo\r\nthree\r\n");
		await it.write("src/a.txt", "one\r\nTWO\r\nthree\r\n", record.root);
		expect(await closeWorktree(record, { git: it.git })).toMatchObject({ files: 1, insertions: 1, deletions: 1 });
		await it.write("src/a.txt", "one\r\ntwo\r\nthree\r\nmine\r\n");
		const kept = (await readWorktreeRecord(record)) ?? record;
		expect(await applyWorktree(kept, { git: it.git })).toEqual({ files: ["src/a.txt"], conflicts: [] });
		expect(await it.read("src/a.txt")).toBe("one\r\nTWO\r\nthree\r\nmine\r\n");
	});

test("what a killed process left in its set-up, or unchanged, is removed; an earlier run's work stays", async () => {
	const it = await repo();
	const unready = await it.open({ id: "a1" });
	await it.write("made-by-setup.txt", "made\n", unready.root);
	await orphan({ ...unready, isPreparing: true });
	await orphan(await it.open({ id: "b2" }));
	const worked = await it.open({ id: "c3" });
	await it.write("work.txt", "work\n", worked.root);
	await closeWorktree(worked, { git: it.git });
	await orphan({ ...(await it.open({ id: "c3", run: 2 })), isPreparing: true });
	const busy = await it.open({ id: "d4" });
	await writeFile(`${busy.root}.json`, JSON.stringify({ ...busy, isPreparing: true })); // by us, who live
	const listed = await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git });
	expect(listed.map(({ record: { agentId }, state }) => [agentId, state])).toEqual([
		["c3", "left"],
		["d4", "in use"],
	]);
	expect((await readdir(it.dir)).filter((name) => !name.endsWith(".json"))).toEqual(["d4"]);
	expect(await it.branches()).toEqual(["main", "pi-subagents/c3", "pi-subagents/d4"]);
	// The set-up runs again, on top of the earlier work.
	const again = await it.open({ id: "c3", run: 3, setup: { setup: "touch made-again.txt" } });
	expect((await readdir(again.root)).sort()).toEqual([".git", ".gitignore", "made-again.txt", "src", "work.txt"]);
});
