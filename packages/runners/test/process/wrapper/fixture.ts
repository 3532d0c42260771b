/** The wrapper as a process of its own, around a pi that a test chooses. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { systemClock } from "../../../../core/src/base/clock.ts";
import { followLines } from "../../../../core/src/files/tail.ts";
import type { RunSpec } from "../../../../core/src/index.ts";
import { isAlive } from "../../../../core/src/signals/identity.ts";
import { controlPath, type RunPlace } from "../../../../core/src/signals/run-processes.ts";
import { spec as anySpec } from "../../../../core/test/fixtures/events.ts";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import type { ControlLine, EventLine } from "../../../../runs/src/format/lines.ts";
import type { Meta, PiLaunch } from "../../../../runs/src/format/meta.ts";
import type { ResultFile } from "../../../../runs/src/format/result.ts";
import { claimRun } from "../../../../runs/src/owner.ts";
import { parseEvent, parseResult } from "../../../../runs/src/read.ts";
import { buildOnce } from "../../fixtures/build-once.ts";

const FAKE_PI = fileURLToPath(new URL("./fake-pi.mjs", import.meta.url));

export interface WorldOptions {
	spec?: Partial<RunSpec>;
	/** How pi is started, given the directory of the run. */
	launch?: (runDir: string) => Partial<PiLaunch>;
	/** What the wrapper's environment is; that of the test when absent. */
	env?: Readonly<Record<string, string>>;
}

export interface WrapperWorld extends AsyncDisposable {
	runDir: string;
	place: RunPlace;
	/** Makes the test the one who watches the run. */
	watch(): Promise<void>;
	/** The file that the wrapper reads what it is told from. */
	control: string;
	tell(...lines: ControlLine[]): Promise<void>;
	/** Starts a wrapper. */
	start(): StartedWrapper;
	/** Starts a wrapper and waits for its end. */
	run(): Promise<Ended>;
	read(name: string): Promise<string>;
	events(): Promise<EventLine[]>;
	result(): Promise<ResultFile | undefined>;
	/** Resolves with the first such event, past or to come. */
	saw<T extends EventLine["type"]>(type: T): Promise<EventLine & { type: T }>;
	/** What the fake pi was told. */
	heard(): Promise<string[]>;
	/** Which of the processes that the fake pi noted are left. */
	survivors(): Promise<number[]>;
}

interface StartedWrapper {
	readonly process: ChildProcess;
	readonly ended: Promise<Ended>;
}

interface Ended {
	code: number | null;
	signal: NodeJS.Signals | null;
	stdout: string;
	stderr: string;
	/** What `result.json` says. */
	result: ResultFile | undefined;
}

/** A run of the fake pi that behaves as the scenario says. */
export function fakeWorld(
	scenario: string,
	{ launch, ...options }: Omit<WorldOptions, "launch"> & { launch?: Partial<PiLaunch> } = {},
): Promise<WrapperWorld> {
	return wrapperWorld({ ...options, launch: () => ({ args: [FAKE_PI, scenario], ...launch }) });
}

export async function wrapperWorld(options: WorldOptions): Promise<WrapperWorld> {
	const { wrapper } = await buildOnce();
	const root = await createTempDir();
	const runDir = join(root.path, "run");
	await mkdir(runDir, { mode: 0o700 });
	const agentDir = options.env?.PI_CODING_AGENT_DIR ?? join(root.path, "agent");
	const place = { agentDir, runDir };
	const spec: RunSpec = { ...anySpec, runner: "process", cwd: root.path, ...options.spec };
	await writeFile(join(runDir, RUN_FILES.meta), JSON.stringify(metaOf(spec, place, options.launch?.(runDir))));
	const started: StartedWrapper[] = [];
	const read = (name: string) => readFile(join(runDir, name), "utf8");
	const readMaybe = (name: string) => read(name).catch(() => "");
	const linesIn = async (name: string) => (await readMaybe(name)).split("\n").filter((line) => line !== "");
	const result = async () => parseResult(await readMaybe(RUN_FILES.result));
	const start = () => {
		const it = startWrapper([wrapper, runDir], options.env, result);
		started.push(it);
		return it;
	};
	return {
		runDir,
		place,
		async watch() {
			await claimRun(place);
		},
		control: controlPath(place),
		async tell(...lines) {
			const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
			await mkdir(dirname(controlPath(place)), { recursive: true });
			await appendFile(controlPath(place), text);
		},
		start,
		run: () => start().ended,
		read,
		events: async () => (await linesIn(RUN_FILES.events)).flatMap((line) => parseEvent(line) ?? []),
		result,
		saw: (type) => firstOf(runDir, type),
		heard: async () => (await linesIn("heard")).map((line) => JSON.parse(line) as string),
		async survivors() {
			const pids = (await linesIn("pids")).map(Number);
			const alive = await Promise.all(pids.map((pid) => isAlive({ pid, born: null, host: hostname(), boot: null })));
			return pids.filter((_pid, index) => alive[index]);
		},
		async [Symbol.asyncDispose]() {
			for (const wrapper of started) {
				wrapper.process.kill("SIGKILL"); // its pi ends with its input
				await wrapper.ended;
			}
			for (const pid of await linesIn("pids")) endProcess(Number(pid));
			await root.remove();
		},
	};
}

function metaOf(spec: RunSpec, { agentDir, runDir }: RunPlace, launch: Partial<PiLaunch> | undefined): Meta {
	const { type, task, cwd, tools, model } = spec;
	const env = { PI_CODING_AGENT_DIR: agentDir, PI_SUBAGENTS_CHILD: "1", PI_SUBAGENTS_RUN_DIR: runDir, ...launch?.env };
	return {
		format: 1,
		createdBy: "pi-subagents",
		runId: "a1",
		agentId: "a1",
		run: 1,
		createdAt: 1_000,
		queuedAt: 1_000,
		depth: 1,
		isBackground: false,
		preset: type,
		task,
		cwd,
		tools,
		resolvedModel: model,
		spec,
		launch: { command: process.execPath, args: [], showsProgress: false, ...launch, env },
	};
}

function startWrapper(
	args: readonly string[],
	env: Readonly<Record<string, string>> | undefined,
	result: () => Promise<ResultFile | undefined>,
): StartedWrapper {
	const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"], ...(env ? { env } : {}) });
	const output = { stdout: "", stderr: "" };
	child.stdin.on("error", () => {}); // it is gone
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output.stdout += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		output.stderr += text;
	});
	const ended = new Promise<Ended>((resolve) => {
		child.once("exit", async (code, signal) => {
			const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
			const timer = setTimeout(giveUp, 5_000); // a process that holds our pipe open is none of its business
			await Promise.race([new Promise((closed) => child.once("close", closed)), late]);
			clearTimeout(timer);
			resolve({ code, signal, ...output, result: await result() });
		});
	});
	return { process: child, ended };
}

function firstOf<T extends EventLine["type"]>(runDir: string, type: T): Promise<EventLine & { type: T }> {
	const { promise, resolve } = Promise.withResolvers<EventLine & { type: T }>();
	const follower = followLines(
		join(runDir, RUN_FILES.events),
		(line) => {
			const event = parseEvent(line);
			if (event?.type === type) resolve(event as EventLine & { type: T });
		},
		{ clock: systemClock, report: () => undefined },
	);
	return promise.finally(() => follower.close());
}

function endProcess(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It is gone, as it should be.
	}
}
