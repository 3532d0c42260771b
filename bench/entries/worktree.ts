/** What an agent's checkout of its own takes beyond what git itself takes to make one and to remove it. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fakeRunner } from "@pi-subagents/core/testing";
import { gitWith, worktreeRunner } from "@pi-subagents/core/worktree";
import { createTempDir } from "@pi-subagents-dev/testkit";
import type { Benchmark } from "../measure.ts";
import { specFor } from "../worlds/spawn.ts";

const FILES = 200;

export const worktree: Benchmark = {
	name: "worktree: an agent that changes nothing, beyond `git worktree add` and `remove`",
	target: 1,
	unit: "ms",
	rounds: 11,
	ours: { name: "ours", once: beyondGit },
	against: { name: "allowed", once: () => 30 },
};

async function beyondGit(): Promise<number> {
	const temp = await createTempDir();
	try {
		return await measuredIn(temp.path);
	} finally {
		await temp.remove();
	}
}

/** One after the other in the same repository, so that a busy machine slows down both. */
async function measuredIn(dir: string): Promise<number> {
	const main = join(dir, "app");
	const env = {
		...{ PATH: process.env.PATH ?? "", HOME: dir, GIT_CONFIG_NOSYSTEM: "1" },
		...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" },
		...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" },
	};
	const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: main, env });
	await mkdir(main);
	await Promise.all(Array.from({ length: FILES }, (_, at) => writeFile(join(main, `${at}.txt`), `${at}\n`)));
	await git("init", "--quiet");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");

	const inner = fakeRunner((run) => void run.answer("Done."));
	const runner = worktreeRunner(inner, {
		dir: join(dir, "worktrees"),
		git: gitWith(env),
		sessionCwd: () => main,
	});
	const isolation = { kind: "worktree", base: "head" } as const;
	const began = performance.now();
	const { status } = await runner.start(
		{ ...specFor("Look."), cwd: main, isolation, agentId: "a1", run: 1 },
		() => undefined,
	).settled;
	const ours = performance.now() - began;
	if (status !== "completed") throw new Error(`the agent is ${status}`);
	const bare = join(dir, "bare");
	const beganBare = performance.now();
	await git("worktree", "add", "--quiet", "--detach", bare);
	await git("worktree", "remove", bare);
	return Math.max(0, ours - (performance.now() - beganBare));
}
