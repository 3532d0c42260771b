/** Files of ours as a storm finds and spoils them. */
import { createHash } from "node:crypto";
import { type Dirent, existsSync } from "node:fs";
import { lstat, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import { isRunning, textOf } from "../support/detached.ts";
import { type Random, randomFrom } from "../support/rounds.ts";

/** The lines of a file that are whole JSON objects. What was cut off or spoiled is none; a full device never ends. */
export async function tolerantLinesOf(path: string): Promise<Record<string, unknown>[]> {
	const isPlain = (await lstat(path).catch(() => undefined))?.isFile() === true;
	return ((isPlain ? await textOf(path) : undefined) ?? "").split("\n").flatMap((line) => {
		try {
			const value: unknown = JSON.parse(line);
			return typeof value === "object" && value !== null ? [value as Record<string, unknown>] : [];
		} catch {
			return [];
		}
	});
}

/** All regular files below a directory; none, where there is no such directory. */
export async function filesBelow(dir: string): Promise<string[]> {
	const entries = await entriesBelow(dir);
	return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Where a directory goes while one looks, looks again: it would seem as if nothing were there at all. */
async function entriesBelow(dir: string): Promise<Dirent[]> {
	for (;;) {
		try {
			return await readdir(dir, { recursive: true, withFileTypes: true });
		} catch (error) {
			if (!existsSync(dir)) return [];
			if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
		}
	}
}

/** The files that we keep, of every kind: of runs, conversations, jobs, owners and checkouts. What is in a checkout is the agent's. */
export async function ownFiles({ agentDir, cwd }: PiEnv): Promise<string[]> {
	const state = join(agentDir, "state", "subagents");
	const all = [...(await filesBelow(state)), ...(await filesBelow(join(cwd, ".pi", "subagents", "runs")))];
	const checkouts = join(state, "worktrees");
	const there = join(state, "worker"); // the other machine's
	const kept = all.filter((path) => basename(path) !== ".gitignore" && !path.startsWith(there)); // without it git would rightly speak of runs
	return kept.filter((path) => !path.startsWith(checkouts) || join(checkouts, basename(path)) === path).sort();
}

/** What a file is, by its place. */
const KINDS = [
	[/\/runs\/.*\/meta\.json$/, "meta"],
	[/\/runs\/.*\/events\.jsonl$/, "events"],
	[/\/runs\/.*\/result\.json$/, "result"],
	[/\/control\.jsonl$/, "control"],
	[/\/runs\/.*\/wrapper\.json$/, "what a wrapper says"],
	[/\/processes\//, "record of a process"],
	[/\.workflow\.jsonl$/, "journal of a workflow"],
	[/\/runs\//, "another file of a run"],
	[/\/sessions\//, "conversation"],
	[/\/schedules\//, "journal of jobs"],
	[/\/worktrees\//, "place of a worktree"],
	[/\/open\//, "owner of a session"],
] as const;

export function kindOf(path: string): string {
	return KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "another file";
}

/** What can happen to a file while nobody looks. */
const HARMS: Record<string, (path: string, chance: Random) => Promise<unknown>> = {
	truncated: async (path, chance) => truncate(path, Math.floor(chance.next() * (await readFile(path)).length)),
	emptied: (path) => truncate(path, 0),
	deleted: (path) => rm(path),
	overwritten: (path) => writeFile(path, '{"type":"turn"\n\0\xff garbage ]}\n'),
	appended: (path) => writeFile(path, '{"type":"turn"\n\0garbage', { flag: "a" }),
	"with flipped bits": async (path, chance) => {
		const bytes = await readFile(path);
		for (let flips = 0; flips < 3 && bytes.length > 0; flips++) {
			const at = Math.floor(chance.next() * bytes.length);
			bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(chance.next() * 8));
		}
		await writeFile(path, bytes);
	},
};

/** Spoils some of them, of as many kinds, and says which and how. */
export async function spoilSome(paths: readonly string[], seed: number): Promise<{ path: string; how: string }[]> {
	const chance = randomFrom(seed);
	const kinds = chance.shuffle([...Map.groupBy(paths, kindOf).values()]);
	const some = kinds.slice(0, 1 + Math.floor(chance.next() * 5)).map((files) => chance.pick(files));
	const spoiled: { path: string; how: string }[] = [];
	for (const path of some) {
		const how = chance.pick(Object.keys(HARMS));
		try {
			await HARMS[how]?.(path, chance);
			spoiled.push({ path, how });
		} catch (error) {
			if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error; // it has just been removed
		}
	}
	return spoiled;
}

/** Directories of runs that work in processes of their own: what these say to each other in their files must get through. */
export async function livingRuns(env: PiEnv): Promise<string[]> {
	const { cwd } = env;
	const runs = join(cwd, ".pi", "subagents", "runs");
	const entries = await readdir(runs, { withFileTypes: true }).catch((): Dirent[] => []);
	const found: string[] = [];
	for (const { name } of entries.filter((entry) => entry.isDirectory())) {
		const [wrapper] = await tolerantLinesOf(join(runs, name, "wrapper.json"));
		const isStarting = wrapper === undefined && existsSync(join(recordsOf(env, join(runs, name)), "owner-1.json"));
		const isOver = existsSync(join(runs, name, "result.json"));
		if (!isOver && (isStarting || (typeof wrapper?.pid === "number" && isRunning(wrapper.pid))))
			found.push(join(runs, name));
	}
	return found;
}

/** Where it is recorded which processes run and watch a run. */
export function recordsOf({ agentDir }: PiEnv, run: string): string {
	const key = createHash("sha256").update(run).digest("hex").slice(0, 32);
	return join(agentDir, "state", "subagents", "processes", key);
}

/** What somebody else wrote into its log while it grows. */
export async function spoilLiving(run: string): Promise<void> {
	await writeFile(join(run, "events.jsonl"), '{"type":"turn"\n\0garbage\n', { flag: "a" });
}

/** As a crash of the machine leaves it: the last line is not whole. */
export async function cutLastLine(path: string, chance: number): Promise<void> {
	const bytes = await readFile(path);
	const start = bytes.subarray(0, -1).lastIndexOf(10) + 1;
	await truncate(path, start + Math.floor(chance * (bytes.length - start)));
}

/** From now on it cannot be written: what is in its place is a link, and leads to a device that is always full. */
export async function replaceByFullDevice(path: string): Promise<void> {
	await rm(path, { force: true });
	await symlink("/dev/full", path);
}
