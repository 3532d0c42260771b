/** Directories of runs, written by hand or by small scripts that stand for the wrapper. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { onTestFinished } from "vitest";
import type { ChildEvent, Outcome, Run, RunIdentity, RunSpec } from "../src/index.ts";
import { type EventLine, identityOf, processRunner, type ResultFile, RUN_FILES } from "../src/process/index.ts";
import type { ControlLine, ProcessIdentity } from "../src/process/layout.ts";
import type { ProcessRunnerOptions } from "../src/process/runner.ts";
import { spec as anySpec } from "./events.ts";

export interface RunDir {
	path: string;
	file(name: keyof typeof RUN_FILES): string;
	log(...lines: EventLine[]): Promise<void>;
	result(outcome: Outcome, more?: Partial<ResultFile>): Promise<void>;
	/** Which process the wrapper is. */
	wrappedBy(wrapper: ProcessIdentity): Promise<void>;
	/** What was said to the wrapper so far. */
	control(): Promise<ControlLine[]>;
	readResult(): Promise<ResultFile>;
}

export async function tempDir(): Promise<string> {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	return dir.path;
}

/** The directory of run 1 of agent a1. */
export async function runDir(path?: string): Promise<RunDir> {
	const dir = path ?? join(await tempDir(), "a1");
	if (path === undefined) await mkdir(dir);
	const file = (name: keyof typeof RUN_FILES) => join(dir, RUN_FILES[name]);
	return {
		path: dir,
		file,
		log: (...lines) => appendFile(file("events"), lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
		result: (outcome, more) => writeFile(file("result"), JSON.stringify({ ...resultOf(outcome), ...more })),
		wrappedBy: (wrapper) => writeFile(file("wrapper"), JSON.stringify({ type: "started", at: 1, ...wrapper })),
		control: async () =>
			(await readFile(file("control"), "utf8"))
				.split("\n")
				.filter((line) => line !== "")
				.map((line) => JSON.parse(line)),
		readResult: async () => JSON.parse(await readFile(file("result"), "utf8")),
	};
}

export function resultOf(outcome: Outcome): ResultFile {
	return {
		format: 1,
		runId: "a1",
		agentId: "a1",
		run: 1,
		writtenBy: "wrapper",
		outcome,
		startedAt: 1,
		completedAt: 2,
		turns: 1,
		toolUses: 0,
		usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 },
	};
}

/** Of a process that has ended long ago. */
export async function deadProcess(): Promise<ProcessIdentity> {
	return { ...(await identityOf(process.pid)), born: "long ago", boot: "another start" };
}

/** A process with a group of its own, which runs this script and is killed after the test. */
export async function liveProcess(script = "setInterval(() => {}, 1e6)", ...args: string[]) {
	const child = spawn(process.execPath, ["--input-type=module", "-e", script, ...args], {
		detached: true,
		stdio: ["ignore", "pipe", "inherit"],
	});
	const exited = once(child, "exit");
	onTestFinished(async () => void kill(child));
	await once(child, "spawn");
	return { child, exited, identity: await identityOf(child.pid ?? 0) };
}

function kill(child: ChildProcess): void {
	if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
}

export interface Watched {
	run: Run;
	events: { event: ChildEvent; at: number | undefined }[];
	reports: string[];
}

type Given = Partial<ProcessRunnerOptions> & {
	checkpoint?: () => Promise<"go" | "end">;
	spec?: Partial<RunSpec & RunIdentity>;
};

export const runSpec: RunSpec & RunIdentity = { ...anySpec, runner: "process", agentId: "a1", run: 1 };

/** Rejoins the run in this directory. */
export function attach(dir: RunDir, given: Given = {}): Watched {
	return watch(given, (runner, emit) => {
		const spec = { ...runSpec, ...given.spec, artifacts: dir.path };
		return runner.attach?.(spec, emit, given.checkpoint) as Run;
	});
}

/** Starts a run in this directory, which must not exist, with a script in place of the wrapper. */
export async function start(dir: string, script: string, given: Given = {}): Promise<Watched> {
	const home = await tempDir();
	const wrapper = join(home, "wrapper.mjs");
	await writeFile(wrapper, script);
	return watch({ wrapper, agentDir: home, ...given }, (runner, emit) =>
		runner.start({ ...runSpec, cwd: home, artifacts: dir, ...given.spec }, emit, given.checkpoint),
	);
}

type Join = (runner: ReturnType<typeof processRunner>, emit: (event: ChildEvent, at?: number) => void) => Run;

function watch(given: Given, join: Join): Watched {
	const events: Watched["events"] = [];
	const reports: string[] = [];
	const runner = processRunner({
		agentDir: "/nowhere",
		pi: { command: "pi", args: [] },
		childEntry: "/nowhere/child.js",
		isProjectTrusted: () => false,
		report: (message) => void reports.push(message),
		...given,
	});
	const run = join(runner, (event, at) => void events.push({ event, at }));
	onTestFinished(() => run.detach?.());
	return { run, events, reports };
}
