/** What an agent's checkout of its own takes: beside the least that git can do for one, and beyond all that git does. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fakeRunner } from "@pi-subagents/core/testing";
import { type Git, gitWith, worktreeRunner } from "@pi-subagents/worktree";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { type Benchmark, timed } from "../measure.ts";
import { specFor } from "../worlds/spawn.ts";

const FILES = 200;
const about = { unit: "ms", rounds: 11 };

/** Ours asks git more than a dozen things, to lose nothing and touch nothing of the user's. */
export const worktrees: Benchmark[] = [
	{
		...about,
		name: "worktree: an agent that changes nothing, from launch to end, without the time in which git runs",
		target: 1,
		ours: { name: "ours", once: () => inRepository(async (repository) => (await runIn(repository)).withoutGit) },
		against: { name: "allowed", once: () => 30 },
	},
	{
		...about,
		name: "worktree: an agent that changes nothing, from launch to end",
		target: 2,
		ours: { name: "ours", once: () => inRepository(async (repository) => (await runIn(repository)).all) },
		against: { name: "git worktree add, remove", once: () => inRepository(bareIn) },
	},
];

interface Repository {
	dir: string;
	main: string;
	env: NodeJS.ProcessEnv;
	git(...args: string[]): Promise<unknown>;
}

async function runIn({ dir, main, env }: Repository): Promise<{ all: number; withoutGit: number }> {
	const real = gitWith(env);
	let inGit = 0;
	let running = 0; // several at once count once
	let since = 0;
	const git: Git = async (...call) => {
		if (running++ === 0) since = performance.now();
		try {
			return await real(...call);
		} finally {
			if (--running === 0) inGit += performance.now() - since;
		}
	};
	const inner = fakeRunner((run) => void run.answer("Done."));
	const runner = worktreeRunner(inner, { dir: join(dir, "worktrees"), git, sessionCwd: () => main });
	const isolation = { kind: "worktree", base: "head" } as const;
	const spec = { ...specFor("Look."), cwd: main, isolation, agentId: "a1", run: 1 };
	const began = performance.now();
	const { status } = await runner.start(spec, () => undefined).settled;
	const all = performance.now() - began;
	if (status !== "completed") throw new Error(`the agent is ${status}`);
	return { all, withoutGit: all - inGit };
}

async function bareIn({ dir, git }: Repository): Promise<number> {
	const place = join(dir, "bare");
	return timed("git", async () => {
		await git("worktree", "add", "--quiet", "--detach", place);
		await git("worktree", "remove", place);
	}).once();
}

async function inRepository(work: (repository: Repository) => Promise<number>): Promise<number> {
	const temp = await createTempDir();
	const main = join(temp.path, "app");
	const env = {
		...{ PATH: process.env.PATH ?? "", HOME: temp.path, GIT_CONFIG_NOSYSTEM: "1" },
		...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" },
		...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" },
	};
	const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: main, env });
	try {
		await mkdir(main);
		await Promise.all(Array.from({ length: FILES }, (_, at) => writeFile(join(main, `${at}.txt`), `${at}\n`)));
		await git("init", "--quiet");
		await git("add", ".");
		await git("commit", "--quiet", "-m", "first");
		return await work({ dir: temp.path, main, env, git });
	} finally {
		await temp.remove();
	}
}
