/** `/agents`: what agents changed on branches of their own, in a real repository. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { closeWorktree, openWorktree } from "@pi-subagents/core/worktree";
import { expect, test } from "vitest";
import { checkWorktrees } from "../src/commands/doctor/worktrees.ts";
import type { Host } from "../src/host.ts";
import { tellOfLeftWorktrees, worktreesDir } from "../src/worktrees.ts";
import { type World, world } from "./menu-fixture.ts";

const TIMEOUT = 60_000;

async function repository(it: World) {
	const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: it.cwd })).stdout.trim();
	await git("init", "--quiet", "--initial-branch=main");
	await git("config", "user.name", "Ada");
	await git("config", "user.email", "ada@example.org");
	await writeFile(join(it.cwd, "a.txt"), "one\ntwo\nthree\n");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	const open = (id: string) =>
		openWorktree({
			cwd: it.cwd,
			dir: worktreesDir(it.agentDir),
			id,
			run: 1,
			base: "head",
			about: { type: "coder", description: "mend it", task: "Mend it." },
			sessionCwd: it.cwd,
		});
	/** One whose agent has ended well, after it wrote this. */
	const kept = async (id: string, content: string) => {
		const place = await open(id);
		await writeFile(join(place.root, "a.txt"), content);
		await closeWorktree(place);
	};
	/** One whose pi was killed. */
	const left = async (id: string, content: string) => {
		const place = await open(id);
		await writeFile(join(place.root, "a.txt"), content);
		await writeFile(`${place.root}.json`, JSON.stringify({ ...place, owner: { ...place.owner, pid: 99_999_999 } }));
		return place;
	};
	const branches = async () => (await git("branch", "--format=%(refname:short)")).split("\n");
	return { git, kept, left, branches };
}

test(
	"a branch is looked at, applied without committing, and discarded after a yes",
	async () => {
		await using it = await world();
		const { kept, branches, git } = await repository(it);
		await kept("a1", "one\ntwo\nthree\ntheirs\n");
		await writeFile(join(it.cwd, "a.txt"), "mine\ntwo\nthree\n");
		const way = [{ choose: "worktrees" }, { choose: "a1" }] as const;
		const shown = await it.walk(...way, { choose: "diff" }, { choose: "apply" }, { say: "no" }, { choose: "copy" });
		expect(shown).toContain("Agents › Worktrees\n✓ pi-subagents/a1 1 file, +1 -0");
		expect(shown.find((each) => each.startsWith("pi-subagents/a1\n"))).toContain("+theirs");
		expect(shown.find((each) => each.startsWith("Apply pi-subagents/a1 to 1 file?"))).toContain("no conflicts");
		expect(shown).toContain("copied git merge pi-subagents/a1");
		expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\ntwo\nthree\n");
		await it.walk(...way, { choose: "apply" }, { say: "yes" });
		expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\ntwo\nthree\ntheirs\n");
		expect(await git("log", "--format=%s")).toBe("first");
		await it.walk(...way, { choose: "discard" }, { say: "no" });
		expect(await branches()).toContain("pi-subagents/a1");
		expect((await it.walk(...way, { choose: "discard" }, { say: "yes" })).at(-2)).toMatch(
			/No agent has left a worktree/,
		);
		expect(await branches()).toEqual(["main"]);
	},
	TIMEOUT,
);

test(
	"a conflict is shown before anything is changed",
	async () => {
		await using it = await world();
		const { kept } = await repository(it);
		await kept("a1", "theirs\n");
		await writeFile(join(it.cwd, "a.txt"), "mine\n");
		const shown = await it.walk({ choose: "worktrees" }, { choose: "a1" }, { choose: "apply" });
		const conflict = shown.find((each) => each.startsWith("pi-subagents/a1 conflicts"));
		expect(conflict).toMatch(/Nothing was applied\.[\s\S]*a\.txt[\s\S]*git merge pi-subagents\/a1/);
		expect(await readFile(join(it.cwd, "a.txt"), "utf8")).toBe("mine\n");
	},
	TIMEOUT,
);

test(
	"what a crash has left is named by the doctor, and kept on its branch from the menu",
	async () => {
		await using it = await world();
		const { left, git } = await repository(it);
		expect(await checkWorktrees(it.agentDir)).toEqual([{ level: "ok", text: "none left behind" }]);
		const place = await left("a1", "saved\n");
		expect(await checkWorktrees(it.agentDir)).toEqual([
			{
				level: "hint",
				text: `${place.root} was left by agent a1, with changes that are not committed or merged.`,
				fix: "In /agents, under Worktrees: look at it, keep it on its branch, or discard it.",
			},
		]);
		const shown = await it.walk({ choose: "worktrees" }, { choose: "a1" }, { choose: "keep" });
		expect(shown.join("\n")).toContain("info: Its changes are on branch pi-subagents/a1 (1 file, +1 -3)");
		expect(await git("show", "pi-subagents/a1:a.txt")).toBe("saved");
		expect(await checkWorktrees(it.agentDir)).toEqual([
			{ level: "ok", text: "none left behind; 1 branch of agents to look at" },
		]);
	},
	TIMEOUT,
);

test(
	"what a crash has left of this repository's agents is told when a session is open there",
	async () => {
		await using it = await world();
		const { left, kept } = await repository(it);
		const told: string[] = [];
		const host = { agentDir: it.agentDir, tell: (text: string) => told.push(text) } as unknown as Host;
		await kept("a1", "kept\n");
		await tellOfLeftWorktrees(host, it.ctx);
		expect(told).toEqual([]);
		await left("a2", "left\n");
		await tellOfLeftWorktrees(host, { ...it.ctx, cwd: it.agentDir });
		expect(told).toEqual([]);
		await tellOfLeftWorktrees(host, it.ctx);
		expect(told).toEqual([expect.stringMatching(/^An agent has ended without closing its worktree\./)]);
	},
	TIMEOUT,
);
