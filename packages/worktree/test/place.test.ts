import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { gateCases, isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { closeWorktree, confinementAt, createCheckoutGuard, listWorktrees, readWorktreeRecord } from "../src/index.ts";
import { placeFor } from "../src/place.ts";
import { type Repo, repo } from "./fixture.ts";

/** Its record stays with the others. */
async function elsewhere(it: Repo, dir: string, options: Parameters<Repo["open"]>[0] = {}) {
	return it.open({ setup: { dir }, ...options });
}

describe("a worktree in a directory of the user's choice", () => {
	test("is made there, listed, closed, reopened and resumed there, and nothing is left", async () => {
		const it = await repo();
		const record = await elsewhere(it, "../trees");
		expect(record.root).toBe(join(it.home, "trees", "a1"));
		expect(await readdir(it.dir)).toEqual(["a1.json"]);
		await it.write("new.txt", "new\n", record.root);
		expect(await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git })).toMatchObject([
			{ state: "in use", isChanged: true },
		]);
		const { branch } = await closeWorktree(record, { git: it.git });
		expect(await readdir(join(it.home, "trees"))).toEqual([]);
		expect(await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git })).toMatchObject([{ state: "kept" }]);
		// The choice may have changed since: the agent finds its work where it is.
		const again = await it.open({ run: 2 });
		expect(again).toMatchObject({ root: record.root, branch });
		expect(await it.read("new.txt", again.root)).toBe("new\n");
		await closeWorktree(again, { git: it.git });
		expect(await readdir(join(it.home, "trees"))).toEqual([]);
		expect(await it.run(["worktree", "list"])).not.toContain("trees");
	});

	test("inside the checkout is hidden from the user's git, and no part of what an agent starts with", async () => {
		const it = await repo();
		await it.write("draft.txt", "draft\n");
		const before = await it.run(["status", "--porcelain"]);
		const first = await elsewhere(it, ".trees", { base: "dirty" });
		const second = await elsewhere(it, ".trees", { base: "dirty", id: "b2" });
		expect(await it.run(["status", "--porcelain"])).toBe(before);
		expect((await readdir(second.root)).sort()).toEqual([".git", ".gitignore", "draft.txt", "src"]);
		await writeFile(join(first.root, "new.txt"), "new\n");
		expect(await closeWorktree(first, { git: it.git })).toMatchObject({ files: 1 });
		expect(await closeWorktree(second, { git: it.git })).toMatchObject({ files: 0 });
		expect(await readdir(join(it.main, ".trees"))).toEqual([".gitignore"]);
		expect(await it.run(["status", "--porcelain"])).toBe(before);
	});

	test("confines whoever is launched in it, and notes what reached beyond it beside its record", async () => {
		const it = await repo();
		const record = await elsewhere(it, "../trees");
		const inside = await confinementAt(join(it.home, "agent"), join(record.root, "src"));
		expect(inside).toEqual({ root: record.root, records: it.dir, origin: it.main, watches: [it.main] });
		if (!inside) return;
		const guard = createCheckoutGuard(inside, { git: it.git });
		const call = { id: "1", tool: "bash", input: { command: "touch ../../app/x" }, cwd: record.root };
		await guard.before(call);
		await it.write("x", "x");
		expect(await guard.after(call)).toContain("another checkout changed");
		expect((await closeWorktree(record, { git: it.git })).problems?.join()).toContain("another checkout changed");
		expect(await confinementAt(join(it.home, "agent"), it.main)).toBeUndefined();
	});

	if (isFullRun)
		test("of an agent's agent is beside it, not inside", async () => {
			const it = await repo();
			await it.write(".gitignore", "ignored/\n.trees/\n");
			await it.run(["commit", "--quiet", "--all", "-m", "ignore"]);
			const outer = await elsewhere(it, ".trees");
			const inner = await elsewhere(it, ".trees", { id: "b2", cwd: outer.root, originOf: () => it.main });
			expect(inner.root).toBe(join(it.main, ".trees", "b2"));
		});

	test("is no longer known by a record that was copied there", async () => {
		const it = await repo();
		const record = await elsewhere(it, "../trees");
		await writeFile(`${record.root}.json`, await it.read("a1.json", it.dir));
		expect(await readWorktreeRecord({ root: record.root })).toBeUndefined();
		expect(await readWorktreeRecord(record)).toEqual(record);
	});

	const refused: [dir: string, why: string][] = [
		[".", "is inside .*app, where git does not ignore it"],
		["src", "git does not ignore it"],
		[".git/trees", "inside a git directory"],
		["src/../.GIT/trees", "inside a git directory"],
		["hidden", "inside a git directory"],
		["linked/trees", "leads out of .* through a link"],
		["src/a.txt", "cannot be used: EEXIST"],
		["~root/trees", "is not a path"],
		["a\0b", "is not a path"],
	];
	/** In the gate one for each reason. */
	test.each(gateCases(refused, 0, 2, 5, 6, 7))("is refused at %j", async (dir, why) => {
		const it = await repo();
		const aside = join(it.home, "aside");
		await mkdir(aside);
		await symlink(aside, join(it.main, "linked"));
		await symlink(join(it.main, ".git", "objects"), join(it.main, "hidden"));
		await expect(elsewhere(it, dir)).rejects.toThrow(new RegExp(`\`dir\` of \`worktree\`.*${why}`, "s"));
		expect(await readdir(aside)).toEqual([]);
		expect(await readdir(it.dir)).toEqual([]);
		expect(await it.branches()).toEqual(["main"]);
	});

	test("can be in the user's home", async () => {
		const it = await repo();
		const name = `.pi-subagents-test-${crypto.randomUUID()}`;
		const where = { records: it.dir, origin: it.main, git: it.git };
		const repository = { main: it.main, commonDir: join(it.main, ".git") };
		const place = await placeFor({ chosen: `~/${name}`, repository, ...where });
		await rm(place, { recursive: true });
		expect(place).toBe(join(homedir(), name));
	});
});
