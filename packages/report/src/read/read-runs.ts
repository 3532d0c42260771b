/** Reads runs from their directories and from the entries of a session. What cannot be read is a problem beside the rest. */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { runIdOf } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { checkArguments } from "@pi-subagents/progress";
import { isRunPath, knownRun, RUN_FILES, readRun, readToolOutputs } from "@pi-subagents/runs";
import { diffWorktree, listWorktrees } from "@pi-subagents/worktree";
import type { RunInput } from "../model/build.ts";
import { runsInSession } from "./session-runs.ts";

export interface FoundRuns {
	runs: RunInput[];
	problems: string[];
}

export interface ReadOptions {
	/** Also reads what tools returned, and diffs. */
	isFull?: boolean;
	/** The changes in a run's worktree, as text; only called for full reports. */
	diffOf?: (run: RunInput) => Promise<string | undefined>;
	/** pi's own directory, which proves results. Without it, what a file says about itself stays a claim. */
	agentDir?: string;
	/** For reading again and again: a run whose files are as they were is not read again. */
	cache?: RunCache;
}

/** By directory; `stamp` says how its files were. */
export type RunCache = Map<string, { stamp: string; run: RunInput }>;

/** More at once would exhaust file handles. */
const AT_ONCE = 16;

/**
 * The runs in a directory of runs, or in one run's directory.
 *
 * @example
 * ```ts
 * const { runs, problems } = await readRunDirs(".pi/subagents/runs");
 * ```
 */
export async function readRunDirs(dir: string, options: ReadOptions = {}): Promise<FoundRuns> {
	checkArguments({ dir: [dir, "string"] });
	const found = await readdir(dir, { withFileTypes: true });
	if (found.some(({ name }) => name === "meta.json")) return readAll([dir], options);
	const dirs = found.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
	return readAll(
		dirs.map(({ name }) => join(dir, name)),
		options,
	);
}

/**
 * The runs that a session's entries name: from their files if they exist, otherwise what the entries say.
 *
 * @example
 * ```ts
 * const { runs } = await readSessionRuns(sessionManager.getEntries());
 * ```
 */
export async function readSessionRuns(entries: readonly unknown[], options: ReadOptions = {}): Promise<FoundRuns> {
	checkArguments({ entries: [entries, "array"] });
	const logged = runsInSession(entries);
	const dirs = [...logged].flatMap(([runId, { agent }]) =>
		agent.artifacts !== undefined && isRunPath(agent.artifacts, runId) ? [agent.artifacts] : [],
	);
	const read = await readAll(dirs, options);
	const known = new Map(read.runs.map((run) => [runIdOf(run), run]));
	const runs = [...logged].map(([runId, run]): RunInput => {
		const found = known.get(runId) ?? run;
		// A run that was cut off may have no result in its files, but the session knows that it is over.
		return found.end || !run.end ? found : { ...found, end: run.end };
	});
	return { ...read, runs };
}

/** One agent with all its runs and all agents below it. */
export function withDescendants(runs: readonly RunInput[], agentId: string): RunInput[] {
	const wanted = new Set([agentId]);
	const byParent = Map.groupBy(runs, ({ agent }) => agent.parentAgentId);
	for (const id of wanted) for (const run of byParent.get(id) ?? []) wanted.add(run.agentId); // grows meanwhile
	return runs.filter((run) => wanted.has(run.agentId));
}

/**
 * For full reports: the changes in the worktrees that still exist, by their branches.
 *
 * @example
 * ```ts
 * const found = await readRunDirs(dir, { isFull: true, diffOf: await worktreeDiffs(agentDir) });
 * ```
 */
export async function worktreeDiffs(agentDir: string): Promise<NonNullable<ReadOptions["diffOf"]>> {
	const listed = await listWorktrees({ agentDir });
	return async ({ end }) => {
		const branch = end?.outcome.worktree?.branch;
		const found = listed.find(({ record }) => record.branch === branch);
		return found && (await diffWorktree(found.record));
	};
}

async function readAll(dirs: readonly string[], options: ReadOptions): Promise<FoundRuns> {
	const found: (RunInput | string)[] = [];
	for (let from = 0; from < dirs.length; from += AT_ONCE)
		found.push(...(await Promise.all(dirs.slice(from, from + AT_ONCE).map((dir) => readOne(dir, options)))));
	return {
		runs: found.filter((each) => typeof each !== "string"),
		problems: found.filter((each) => typeof each === "string"),
	};
}

/** A run, or in words why its files cannot be used. */
async function readOne(dir: string, options: ReadOptions): Promise<RunInput | string> {
	const { cache } = options;
	const stamp = cache && (await stampOf(dir));
	const known = cache?.get(dir);
	if (known && known.stamp === stamp) return known.run;
	const run = await readFiles(dir, options);
	if (cache && stamp !== undefined && typeof run !== "string") cache.set(dir, { stamp, run });
	return run;
}

/** Before they are read: what is written meanwhile is read the next time. */
async function stampOf(dir: string): Promise<string> {
	const { meta, events, result, session } = RUN_FILES;
	const stamps = [meta, events, result, session].map(async (name) => {
		const found = await stat(join(dir, name)).catch(() => undefined); // reading says what is wrong with it
		return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "";
	});
	return (await Promise.all(stamps)).join(",");
}

async function readFiles(dir: string, { isFull = false, diffOf, agentDir }: ReadOptions): Promise<RunInput | string> {
	const read = await readRun(dir, { agentDir });
	if (typeof read === "string") return read;
	if (read.problem !== undefined) return read.problem;
	const { meta, lines, result } = read;
	const run: RunInput = { ...knownRun(meta, lines, result), ...defined({ sessionId: meta.parentSessionId }) };
	if (!isFull) return run;
	try {
		const [outputs, diff] = await Promise.all([readToolOutputs(dir), diffOf?.(run)]);
		return { ...run, outputs, ...defined({ diff }) };
	} catch (error) {
		return `${dir} cannot be read: ${messageOf(error)}`;
	}
}
