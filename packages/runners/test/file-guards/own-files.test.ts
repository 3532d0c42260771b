import { mkdir, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { isOwnFile, refusalOf } from "../../src/file-guards/own-files.ts";

async function world() {
	const temp = await createTempDir();
	onTestFinished(temp.remove);
	const at = (...parts: string[]) => join(temp.path, ...parts);
	const runs = at("project", ".pi", "subagents", "runs");
	await mkdir(join(runs, "a1"), { recursive: true });
	await mkdir(at("project", "src"));
	return { at, runs, agentDir: at("agent") };
}

describe("what only pi-subagents writes", () => {
	test("is no agent's to write, however the path is spelled and wherever it works", async () => {
		const { at, runs } = await world();
		await symlink(runs, at("project", "link"));
		await symlink(join(runs, "a1", "later.json"), at("project", "dangling"));
		const cwd = at("project", "src");
		const paths = [
			join(runs, "a1", "result.json"),
			"../.pi/subagents/runs/a1/result.json",
			"./../.pi//subagents/./runs/a2/../a1/control.jsonl",
			"@../.pi/subagents/runs/a1/result.json",
			pathToFileURL(join(runs, "a1", "result.json")).href,
			"../link/a1/result.json",
			"../dangling",
			"../.pi/subagents/RUNS/a1/result.json",
			"../.pi/subagents/runs",
			"../.pi/subagents/runs/.gitignore",
			"../.pi/subagents/schedules/journal-1/journal.jsonl",
			at("other", ".pi", "subagents", "runs", "b1", "result.json"), // of another project, before it is there
			`~/${relative(homedir(), join(runs, "a1", "result.json"))}`,
		];
		for (const tool of ["write", "edit"])
			for (const path of paths)
				expect.soft(refusalOf({ tool, input: { path }, cwd }, {}), `${tool} ${path}`).toContain("only pi-subagents");
		expect(refusalOf({ tool: "read", input: { path: paths[0] }, cwd }, {})).toBeUndefined();
	});

	test("also where a project keeps it behind a link", async () => {
		const { at } = await world();
		await mkdir(at("linked", "config", "here", "runs", "a1"), { recursive: true });
		await symlink("config", at("linked", ".pi"));
		await symlink("here", at("linked", "config", "subagents"));
		expect(isOwnFile(at("linked", "config", "here", "runs", "a1", "result.json"))).toBe(true);
		expect(isOwnFile(at("linked", "config", "here", "scout.md"))).toBe(false);
	});

	test("also where a project has no place for it, and where the run said that it is", async () => {
		const { at } = await world();
		const elsewhere = [
			"pi-subagents-1000-0123456789ab",
			"pi-subagents-1000-0123456789ab-x1Y2z3",
			"PI-subagents--1-0123456789AB",
		];
		for (const name of elsewhere) expect(isOwnFile(at("tmp", name, "a1", "result.json"))).toBe(true);
		expect(isOwnFile(join(tmpdir(), "pi-subagents-run-x1Y2z3", "result.json"))).toBe(true);
		expect(isOwnFile(at("somewhere", "a1", "x"), { dirs: [undefined, at("somewhere")] })).toBe(true);
	});

	test("jobs, conversations and what is written down of checkouts, in whichever directory of pi", async () => {
		const { at, agentDir } = await world();
		const inside = (state: string) => [
			join(state, "schedules", "s1", ".session"),
			join(state, "sessions", "s1", "a1", "x.jsonl"),
			join(state, "open", "s1", "owner-1.json"),
			join(state, "worktrees", "a1.json"),
		];
		for (const path of inside(join(agentDir, "state", "subagents"))) expect(isOwnFile(path, { agentDir })).toBe(true);
		for (const path of inside(at(".pi", "agent", "state", "subagents"))) expect(isOwnFile(path)).toBe(true);
	});

	test("is nothing else: presets, checkouts of agents, notes and projects of such names", async () => {
		const { at, agentDir } = await world();
		const others = [
			at("project", ".pi", "subagents", "scout.md"),
			at("project", ".pi", "agent-memory", "scout", "MEMORY.md"),
			at("project", ".pi", "settings.json"),
			at("project", "src", "subagents", "runs", "index.ts"),
			at("project", "src", "runs"),
			at("project", ".pi", "subagents", "runs-of-mine", "x"),
			at("pi-subagents-master", "README.md"),
			join(agentDir, "state", "subagents", "worktrees", "a1", "src", "a.ts"),
		];
		for (const path of others) expect.soft(isOwnFile(path, { agentDir }), path).toBe(false);
	});

	test("an endless path is not repeated whole", () => {
		for (const path of [`.pi/subagents/runs/${"x".repeat(10_000_000)}`, "x/".repeat(5_000_000)])
			expect(refusalOf({ tool: "write", input: { path }, cwd: "/project" }, {})?.length).toBeLessThan(300);
	});
});
