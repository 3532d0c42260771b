/** What every agent on this machine does now, or how it ended, read from the files of runs. Nothing is changed. */
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AgentRecord } from "@pi-subagents/core";
import { defined, ifMissing, messageOf } from "@pi-subagents/core/internal/base";
import { namesIn, RUNS_PATH } from "@pi-subagents/core/internal/files";
import type { RunPlace } from "@pi-subagents/core/internal/signals";
import { isAlive, type ProcessIdentity } from "@pi-subagents/core/internal/signals";
import type { RunnerName } from "@pi-subagents/progress";
import { checkArguments, type WaitsFor } from "@pi-subagents/progress";
import { readRun } from "../claims/read-run.ts";
import { RUN_FILES } from "../format/layout.ts";
import type { Meta } from "../format/meta.ts";
import type { ResultFile } from "../format/result.ts";
import { hasStarted, livingWrapper } from "../living-wrapper.ts";
import { readLineRange } from "../peek-file.ts";
import { readWrapper } from "../read.ts";
import { knownRun, recordOfRun } from "../run-events.ts";
import { isRunDir } from "../runs-dir.ts";

/** The last run of an agent. Texts are as the files have them: sanitize them before a terminal sees them. */
export interface RunOverview {
	runId: string;
	agentId: string;
	run: number;
	name?: string;
	preset: string;
	description: string;
	task: string;
	/** The directory of the run's files. */
	dir: string;
	/** The project, or the directory of its runs if that is elsewhere. */
	project: string;
	cwd: string;
	runner: RunnerName;
	/** Whether it takes orders through its files. Otherwise only the pi that it runs in can reach it. */
	hasOwnProcess: boolean;
	model: string;
	createdAt: number;
	/** The pi session that launched it. */
	sessionId?: string;
	/** The process to reach it through: its own, or the pi that it runs in. Absent if that is gone or unknown. */
	holder?: { pid: number; host: string };
	state: RunState;
	/** The last line of its transcript. */
	activity?: string;
	result?: ResultFile;
}

export type RunState =
	| { group: "needs-input"; status: "waiting"; question: OpenQuestion }
	| { group: "working"; status: "running" }
	/** `waits`: why, as it was when it was queued. */
	| { group: "working"; status: "queued"; waits?: string }
	/** It asked another agent or the model, not the user. */
	| { group: "working"; status: "waiting"; question: OpenQuestion; waitsFor: WaitsFor }
	/** `lost`: it ended without a result, because its process is gone. */
	| { group: "done"; status: "completed" | "failed" | "aborted" | "lost" };

export interface OpenQuestion {
	/** What to answer to. Absent if only the pi that shows it can: for an agent inside a pi, and a dialog of an extension. */
	id?: string;
	question: string;
	context?: string;
	defaultAnswer?: string;
}

export interface RunList {
	/** Those that need input first, then the working ones, then the ended ones; the newest first in each group. */
	runs: RunOverview[];
	/** Older runs that were not read. */
	leftOut: number;
	/** What could not be read, and why. */
	problems: string[];
}

/** Enough to read of an unfinished log to find what its agent waits for. */
const LOG_BYTES = 512 * 1024;
const LINE_BYTES = 2_000;
const MAX_NAMES = 20_000;
const AT_ONCE = 16;
/** A wrapper writes its file within this time, or never. */
const STARTING_MS = 60_000;

/**
 * Reads the newest runs in each of the directories.
 *
 * @example
 * ```ts
 * const dirs = await findRunsDirs({ agentDir, cwd: process.cwd() });
 * const { runs } = await listRuns(dirs, { agentDir, now: Date.now() });
 * const waiting = runs.filter(({ state }) => state.group === "needs-input");
 * ```
 */
export async function listRuns(
	dirs: readonly string[],
	options: { agentDir: string; now: number; perDirectory?: number },
): Promise<RunList> {
	checkArguments({
		dirs: [dirs, "array"],
		options: [options, "object"],
		"options.agentDir": [options?.agentDir, "string"],
		"options.now": [options?.now, "number"],
	});
	const { agentDir, now, perDirectory = 200 } = options;
	const list: RunList = { runs: [], leftOut: 0, problems: [] };
	for (const dir of dirs) {
		const found = await newestIn(dir);
		list.leftOut += Math.max(0, found.length - perDirectory);
		const read = await inBatches(found.slice(0, perDirectory), (path) => readOverview(path, { agentDir, now }));
		for (const each of read) {
			if (typeof each === "string") list.problems.push(each);
			else if (each) list.runs.push(each);
		}
	}
	list.runs = latestRuns(list.runs).toSorted(byUrgency);
	return list;
}

/** The last run of each agent. */
function latestRuns(runs: readonly RunOverview[]): RunOverview[] {
	const latest = new Map<string, RunOverview>();
	for (const run of runs) {
		const key = join(dirname(run.dir), run.agentId);
		if ((latest.get(key)?.run ?? 0) < run.run) latest.set(key, run);
	}
	return [...latest.values()];
}

const URGENCY = { "needs-input": 0, working: 1, done: 2 } as const;

function byUrgency(one: RunOverview, other: RunOverview): number {
	return URGENCY[one.state.group] - URGENCY[other.state.group] || lastAt(other) - lastAt(one);
}

function lastAt({ result, createdAt }: RunOverview): number {
	return result?.completedAt ?? createdAt;
}

async function newestIn(dir: string): Promise<string[]> {
	const names = (await namesIn(dir)).filter((name) => /^[\w-][\w.-]*$/.test(name)).slice(0, MAX_NAMES);
	const dated = await inBatches(names, async (name) => {
		const path = join(dir, name);
		const found = await lstat(path).catch(ifMissing(undefined)); // deleted meanwhile
		return found?.isDirectory() ? { path, at: found.mtimeMs } : undefined;
	});
	const runs = dated.filter((each) => each !== undefined);
	return runs.toSorted((one, other) => other.at - one.at).map(({ path }) => path);
}

/** One run; a text says why it cannot be read, and undefined that it is none. */
async function readOverview(
	dir: string,
	{ agentDir, now }: { agentDir: string; now: number },
): Promise<RunOverview | string | undefined> {
	try {
		if (!(await isRunDir(dir, basename(dir)))) return `${dir} is not the user's`;
		const run = await readRun(dir, { agentDir, log: { lastBytes: LOG_BYTES } });
		if (typeof run === "string") return run;
		if (run.problem !== undefined) return run.problem;
		const { meta, result } = run;
		const place = { agentDir, runDir: dir };
		const holder = result ? undefined : await holderOf(place, meta);
		const isStarting = hasWrapper(meta) && !(await hasStarted(place)) && now - meta.createdAt < STARTING_MS;
		const record = recordOfRun(knownRun(meta, run.lines, result));
		return {
			...aboutRun(dir, meta),
			state: stateOf(meta, record, holder !== undefined || isStarting),
			...defined({ result, holder, activity: await activityOf(dir, record) }),
		};
	} catch (error) {
		return `${dir} cannot be read: ${messageOf(error)}`;
	}
}

function aboutRun(dir: string, meta: Meta): Omit<RunOverview, "state"> {
	const { runId, agentId, run, name, preset, task, cwd, createdAt, parentSessionId: sessionId, resolvedModel } = meta;
	const { description, runner } = meta.spec;
	const runs = dirname(dir);
	const isInProject = runs.endsWith(join(...RUNS_PATH));
	const project = isInProject ? dirname(dirname(dirname(runs))) : runs;
	const known = { runId, agentId, run, preset, description, task, dir, project, cwd, runner, createdAt };
	const hasOwnProcess = hasWrapper(meta);
	return { ...known, hasOwnProcess, model: resolvedModel, ...defined({ name, sessionId }) };
}

/** `isHeld`: whether the process that runs it lives. */
function stateOf(meta: Meta, record: AgentRecord, isHeld: boolean): RunState {
	if (record.outcome) return { group: "done", status: record.outcome.status };
	if (!isHeld) return { group: "done", status: "lost" };
	if (record.asking) {
		const { isDialog, id, ...asked } = record.asking;
		// A dialog of an extension is answered in the pi that shows it: without an id, no other program can.
		const question = { ...(isDialog ? {} : defined({ id })), ...asked };
		const { waitsFor } = record;
		// A wrapper writes down questions only. Who else is asked, the pi that holds the run knows.
		const isForUser = hasWrapper(meta) || waitsFor === undefined || waitsFor.who === "user";
		if (isForUser) return { group: "needs-input", status: "waiting", question };
		return { group: "working", status: "waiting", question, waitsFor };
	}
	const isQueued = record.startedAt === undefined && !hasWrapper(meta);
	if (!isQueued) return { group: "working", status: "running" };
	return { group: "working", status: "queued", ...defined({ waits: record.queuedFor }) };
}

/** The transcript ends with what happened last; while calls run, the record says which. */
async function activityOf(dir: string, { memory, activity }: AgentRecord): Promise<string | undefined> {
	return (memory?.pending.length ? activity : undefined) ?? (await lastLine(dir));
}

async function lastLine(dir: string): Promise<string | undefined> {
	const wanted = { after: undefined, bytes: LINE_BYTES };
	return (await readLineRange(join(dir, RUN_FILES.transcript), wanted)).texts.at(-1);
}

/** The living process of a run: its wrapper, or the pi that it runs in. */
async function holderOf(place: RunPlace, meta: Meta): Promise<RunOverview["holder"]> {
	const holder = meta.launch ? await livingWrapper(place) : await claimedHolder(place, meta);
	return holder && { pid: holder.pid, host: holder.host };
}

/** What another machine says about its own process, and a pi about itself: there is no record of either. */
async function claimedHolder({ runDir }: RunPlace, { machine, holder }: Meta): Promise<ProcessIdentity | undefined> {
	const wrapper = machine === undefined ? undefined : await readWrapper(runDir);
	const claimed = machine === undefined ? holder : wrapper?.type === "started" ? wrapper : undefined;
	return claimed && (await isAlive(claimed)) ? claimed : undefined;
}

/** In order, a few at a time: each opens files. */
async function inBatches<Value, Result>(
	values: readonly Value[],
	work: (value: Value) => Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	for (let at = 0; at < values.length; at += AT_ONCE)
		results.push(...(await Promise.all(values.slice(at, at + AT_ONCE).map(work))));
	return results;
}

/** One of its own, here or on another machine: it takes orders through its files. */
function hasWrapper({ launch, machine }: Pick<Meta, "launch" | "machine">): boolean {
	return launch !== undefined || machine !== undefined;
}
