/** `/agents`: what agents changed on branches of their own, in a real repository. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkWorktrees } from "../../src/doctor/directories.ts";
import { spec } from "../fixture.ts";
import { world } from "./fixture.ts";
import { repository } from "./worktree-fixture.ts";

test("a branch is looked at, applied without committing, and discarded after a yes", async () => {
	await using it = await world();
	const { kept, branches, git } = await repository(it);
	await kept("a1", "one\ntwo\nthree\ntheirs\n");
	await writeFile(join(it.cwd, "a.txt"), "mine\ntwo\nthree\n");
	const way = [{ choose: "worktrees" }, { choose: "a1" }] as const;
	const shown = await it.runMenu(...way, { choose: "diff" }, { choose: "apply" }, { say: "no" }, { choose: "copy" });
	expect(shown).toContain("Agents › Worktrees\n✓ pi-subagents/a1 1 file, +1 -0");
	expect(shown.find((each) => each.startsWith("coder a1 › Diff\n"))).toContain("+theirs");
	expect(shown.find((each) => each.startsWith("Apply pi-subagents/a1 to 1 file?"))).toContain("no conflicts");
	expect(shown).toContain("copied git merge pi-subagents/a1");
	expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\ntwo\nthree\n");
	await it.runMenu(...way, { choose: "apply" }, { say: "yes" });
	expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\ntwo\nthree\ntheirs\n");
	expect(await git("log", "--format=%s")).toBe("first");
	await it.runMenu(...way, { choose: "discard" }, { say: "no" });
	expect(await branches()).toContain("pi-subagents/a1");
	expect((await it.runMenu(...way, { choose: "discard" }, { say: "yes" })).at(-2)).toMatch(
		/There are no agent worktrees/,
	);
	expect(await branches()).toEqual(["main"]);
});

test("a conflict is shown before anything is changed", async () => {
	await using it = await world();
	const { kept } = await repository(it);
	await kept("a1", "theirs\n");
	await writeFile(join(it.cwd, "a.txt"), "mine\n");
	const shown = await it.runMenu({ choose: "worktrees" }, { choose: "a1" }, { choose: "apply" });
	const conflict = shown.find((each) => each.startsWith("pi-subagents/a1 conflicts"));
	expect(conflict).toMatch(/Nothing was applied\.[\s\S]*a\.txt[\s\S]*git merge pi-subagents\/a1/);
	expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\n");
});

test("what a crash has left is named by the doctor, and kept on its branch from the menu", async () => {
	await using it = await world();
	const { left, git } = await repository(it);
	expect(await checkWorktrees(it.agentDir)).toEqual([{ level: "ok", text: "none left behind" }]);
	const place = await left("a1", "saved\n");
	expect(await checkWorktrees(it.agentDir)).toEqual([
		{
			level: "hint",
			text: `${place.root} was left by agent a1, with uncommitted or unmerged changes.`,
			fix: "In /agents, under Worktrees: review it, keep it on its branch, or discard it.",
		},
	]);
	const shown = await it.runMenu({ choose: "worktrees" }, { choose: "a1" }, { choose: "keep" });
	expect(shown.join("\n")).toContain("info: Its changes are on branch pi-subagents/a1 (1 file, +1 -3)");
	expect(await git("show", "pi-subagents/a1:a.txt")).toBe("saved");
	expect(await checkWorktrees(it.agentDir)).toEqual([
		{ level: "ok", text: "none left behind; 1 branch of agents to review" },
	]);
});

test("a key in the list of agents shows what one has changed, and says when nothing is left of it", async () => {
	await using it = await world({ isOnScreen: true });
	const { kept } = await repository(it);
	const { id } = it.manager.spawn({ ...spec, isolation: { kind: "worktree", base: "head" } });
	const press = [{ choose: "session" }, { choose: id, press: "d" }] as const;
	expect((await it.runMenu(...press)).join("\n")).toContain("error: Its worktree is gone");
	await kept(id, "one\ntwo\nthree\ntheirs\n");
	const shown = (await it.runMenu(...press)).find((each) => each.startsWith(`coder ${id} › Diff\n`));
	expect(shown).toMatch(/a\.txt {2}\+1 −0\n@@ .*\n one\n two\n three\n\+theirs/);
});
