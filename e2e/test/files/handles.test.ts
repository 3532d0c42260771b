/** A pi without a file handle left: what cannot be started has failed, and pi goes on. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, piUnderTest, type ReplySource, requireTool, runPrint, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { parentSays, scene, scoutReadsNotes } from "../../support/scene.ts";

const hasGit = requireTool("git");

/** Handles that are left while an agent is launched: for nothing at all, for a file, for some pipes of a process. */
const LEFT = [0, 2, 4, 6, 9];
const MAX_HANDLES = 256;

const preset = (name: string, fields: string) => `---
name: ${name}
description: Looks around
model: fake/fake-1
tools: read
${fields}---
You are the repo scout. Explore quickly and summarize.
`;

/** Takes all handles but some whenever the tool is called whose arguments say so, and gives them back after it. */
const HOARDER = `
import { closeSync, openSync } from "node:fs";
export default (pi) => {
	const held = [];
	pi.on("tool_call", ({ input }) => {
		const left = /leave (\\d+)/.exec(input.task ?? "")?.[1];
		if (left === undefined) return;
		try {
			for (;;) held.push(openSync("/dev/null"));
		} catch (error) {
			if (error.code !== "EMFILE") throw error;
		}
		for (const handle of held.splice(0, Number(left))) closeSync(handle);
	});
	pi.on("tool_execution_end", () => {
		for (const handle of held.splice(0)) closeSync(handle);
	});
};
`;

test.skipIf(!hasGit)(
	"with no handle left, a launch fails in each runner, pi continues, and the next launch works",
	async () => {
		const results: string[] = [];
		const heard: ReplySource = (request) => {
			results.push(...request.lastToolResults.map(({ text }) => text));
			return next();
		};
		const presets = ["in-process", "in-worktree", "detached"];
		const launches = presets.flatMap((name) =>
			[...LEFT.map((left) => `leave ${left}`), "Look."].map((task) => [name, task]),
		);
		let at = 0;
		const next = () => {
			const [name, task] = launches[at++] ?? [];
			return name === undefined ? say("All done.") : callTool("subagent", { preset: name, task });
		};
		// The user's own: what a project's say of runners counts only where the project is trusted.
		const agentFiles = {
			"subagents/in-process.md": preset("in-process", ""),
			"subagents/in-worktree.md": preset("in-worktree", "isolation: worktree\n"),
			"subagents/detached.md": preset("detached", "runner: process\n"),
		};
		await using it = await scene([parentSays(next, ...launches.map(() => heard)), scoutReadsNotes], { agentFiles });
		const git = (...args: string[]) => execFileSync("git", ["-C", it.env.cwd, ...args]);
		git("init", "--quiet");
		git("add", "--all");
		git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "all");
		const hoarder = join(it.env.root, "hoarder.ts");
		await writeFile(hoarder, HOARDER);
		const { version, command } = piUnderTest();
		const limited = ["sh", "-c", `ulimit -n ${MAX_HANDLES}; exec "$@"`, "sh", ...command] as const;
		const pi = { version, command: limited };
		const outcome = await runPrint({ env: it.env, pi, extensions: [hoarder] }, "Please delegate.");
		expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
		const told = (name: string, task: string) =>
			results[launches.findIndex((launch) => launch[0] === name && launch[1] === task)] ?? "";
		for (const name of presets) {
			expect(told(name, "leave 0"), name).toMatch(/There is no preset .+ Not all could be read: .+EMFILE/);
			expect(told(name, "Look."), name).toContain("The launch code is heliotrope.");
		}
		// With a few handles left, success depends on whether a kept connection is reused; a false answer is never right.
		for (const [index, [name, task]] of launches.entries())
			expect(results[index], `${name}, ${task}`).toMatch(/EMFILE|The launch code is heliotrope\./);
		expect(told("in-worktree", "leave 4")).toContain(
			"git could not be started: spawn git EMFILE: this process has too many",
		);
		expect(told("detached", "leave 4")).toMatch(
			/Failed .+: <cause-\w+>The agent's process could not be started: spawn .+ EMFILE: this/,
		);
		expect(results).toHaveLength(launches.length);
	},
);
