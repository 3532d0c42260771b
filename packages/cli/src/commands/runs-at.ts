/** Which runs the user means: a project, a directory of runs, one run's directory, or an agent. */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { runIdOf } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import { type FoundRuns, type ReadOptions, readRunDirs, withDescendants } from "@pi-subagents/report";
import { RUN_FILES } from "@pi-subagents/runs";
import { type Context, Failure, find } from "./context.ts";

export interface MeantRuns extends FoundRuns {
	/** The directory that holds them. */
	runsDir: string;
}

const RUNS = join(".pi", "subagents", "runs");

/** An agent, or a run's directory, stands for everything below it, too. Without a word: the project here. */
export async function runsAt(
	context: Context,
	word: string | undefined,
	options: ReadOptions = {},
): Promise<MeantRuns> {
	const path = resolve(context.cwd, word ?? ".");
	const runDir = (await isFile(join(path, RUN_FILES.meta))) ? path : undefined;
	if (runDir === undefined && (word === undefined || (await isDirectory(path)))) {
		const runsDir = (await isDirectory(join(path, RUNS))) ? join(path, RUNS) : path;
		return atLeastOne({ runsDir, ...(await readRunDirs(runsDir, options)) }, path);
	}
	const dir = runDir ?? (await find(context, word ?? "")).dir;
	const runsDir = dirname(dir);
	const found = await readRunDirs(runsDir, options);
	const meant = found.runs.find((run) => runIdOf(run) === basename(dir));
	const runs = meant ? withDescendants(found.runs, meant.agentId) : [];
	return atLeastOne({ runsDir, runs, problems: runDir === undefined || meant ? [] : found.problems }, dir);
}

function atLeastOne(found: MeantRuns, path: string): MeantRuns {
	if (found.runs.length > 0) return found;
	const problem = found.problems[0];
	throw new Failure(
		`There are no runs in ${sanitize(path)}${problem === undefined ? "." : `: ${sanitize(problem)}`} \`pi-subagents list --all\` shows where there are some.`,
	);
}

async function isFile(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined))?.isFile() ?? false; // there is none
}

async function isDirectory(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined))?.isDirectory() ?? false; // there is none
}
