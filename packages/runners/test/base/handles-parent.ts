/**
 * Run by handles.test.ts with few handles: takes all of them but some, and starts one thing after the other that needs
 * more. Prints what became of each. Whatever is not caught ends it, as it would end pi.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../core/src/base/clock.ts";
import { FileThread } from "../../../core/src/files/file-thread.ts";
import { validate } from "../../../core/src/output/validate.ts";
import { ownIdentity } from "../../../core/src/signals/identity.ts";
import { RunProcesses } from "../../../core/src/signals/run-processes.ts";
import { GitNotStarted, gitWith, tryGit } from "../../../worktree/src/git.ts";
import { startDetached } from "../../src/process/parent/starter.ts";
import { PiProcess } from "../../src/process/pi/pi-process.ts";
import { tmux } from "../../src/tmux/command.ts";
import { offerEnvSocket } from "../../src/tmux/env-socket.ts";

const held: number[] = [];
const cwd = tmpdir();
const command = process.execPath;

async function withHandles<T>(left: number, work: () => Promise<T>): Promise<T> {
	try {
		for (;;) held.push(openSync("/dev/null", "r"));
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EMFILE")) throw error;
	}
	for (const handle of held.splice(0, left)) closeSync(handle);
	try {
		return await work();
	} finally {
		for (const handle of held.splice(0)) closeSync(handle);
	}
}

const failure = (work: Promise<unknown>) =>
	work.then(
		() => "it worked",
		(error: Error) => `${error.name}: ${error.message}`,
	);

const order = {
	command,
	args: ["-e", "0"],
	cwd,
	env: process.env,
	processes: new RunProcesses({ agentDir: cwd, runDir: cwd }),
	title: "",
	signal: AbortSignal.any([]),
};
const nothing = () => undefined;
const piOptions = {
	launch: { command, args: ["-e", "0"], env: {}, showsProgress: false },
	cwd,
	runDir: cwd,
	clock: systemClock,
	onLine: nothing,
	onSkipped: nothing,
	onStderr: nothing,
};

/** A window's wrapper calls when no handle is left to take the call. */
async function unreachable(): Promise<string> {
	const reports: string[] = [];
	const tie = await offerEnvSocket({}, (message) => reports.push(message));
	const caller = connect(tie.path);
	caller.on("error", nothing);
	// The caller is in this process, and has its handle already when the others are taken.
	await withHandles(0, async () => {
		while (reports.length === 0 && !caller.destroyed) await delay(5);
	});
	caller.destroy();
	tie.close();
	return reports.join("; ") || "closed";
}

const before = await withHandles(0, ownIdentity);
const found = {
	identity: { without: before.born, later: typeof (await ownIdentity()).born },
	wrapper: await withHandles(2, () => failure(startDetached(order))),
	pi: (await withHandles(2, () => new PiProcess(piOptions).ended)).error,
	git: await withHandles(2, () => failure(gitWith()(["--version"], { cwd }))),
	tryGit: await withHandles(2, () =>
		tryGit(gitWith(), ["--version"], { cwd }).catch((e) => e instanceof GitNotStarted),
	),
	tmux: await withHandles(2, () => failure(tmux(["-V"], { cwd, env: process.env }))),
	answer: await withHandles(2, () => validate({ schema: { type: "object" }, json: "{}" })),
	files: await withHandles(2, () => new FileThread().take([])),
	tie: await unreachable(),
	afterwards: await failure(startDetached(order)),
};
writeSync(1, JSON.stringify(found));
process.exit(0);
