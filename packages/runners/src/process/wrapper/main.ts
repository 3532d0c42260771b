/**
 * `node wrapper.js <run directory> [<socket>]`: runs pi for one run and outlives the process that started it.
 * Connects the run to this process: arguments, signals, input and output. The result is written last.
 */

import { fstatSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import type { Stop } from "@pi-subagents/core";
import { type AlertRules, systemClock } from "@pi-subagents/core";
import { bestEffort, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { BUILD, BUILD_VARIABLE, createWhole } from "@pi-subagents/core/internal/files";
import { settledAlert, takeAlertRules } from "@pi-subagents/core/internal/run";
import {
	identityOf,
	RUN_MARK,
	type RunPlace,
	RunProcesses,
	type WrapperFile,
} from "@pi-subagents/core/internal/signals";
import { runAlertCommand } from "@pi-subagents/core/shell";
import type { Meta, ResultFile } from "@pi-subagents/runs";
import { RUN_FILES, readMeta } from "@pi-subagents/runs";
import { writeOwnResult } from "@pi-subagents/runs/internal";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { WrappedRun } from "./run.ts";
import { ignoreFlowControl, progressTerminal, readingTime, resultTerminal } from "./terminal.ts";
import { withWorktree } from "./worktree.ts";

/** One line on the socket: an object of variables. */
const environmentSchema = Type.Record(Type.String(), Type.String());
/** How long to wait for a reader of our output. */
const PRINT_MS = 2_000;
const SHUTDOWN: Stop = { by: "shutdown" };
const WINDOW_CLOSED: Stop = { by: "user", reason: "its window was closed" };
const INTERRUPTED: Stop = { by: "user", reason: "Ctrl+C in its window" };
const PARENT_LOST: Stop = { by: "lost", reason: "the session that waited for it ended" };

// Exits even if an input or a socket is still open.
process.exit(await main(resolve(process.argv[2] ?? "."), process.argv[3]));

/** Returns the exit code. */
async function main(dir: string, socket: string | undefined): Promise<number> {
	const parentSocket = socket === undefined ? undefined : await takeEnvironment(socket);
	const alertRules = takeAlertRules(process.env);
	delete process.env[RUN_MARK]; // it marks this process and its pi, not the commands that it runs for the user
	const parents = process.env[BUILD_VARIABLE];
	delete process.env[BUILD_VARIABLE];
	const meta = await readMeta(dir);
	const agentDir = typeof meta === "string" ? undefined : meta.launch?.env.PI_CODING_AGENT_DIR;
	if (typeof meta === "string" || !meta.launch || agentDir === undefined) {
		const why = typeof meta === "string" ? meta : `${join(dir, RUN_FILES.meta)} does not say how to start pi`;
		process.stderr.write(`This run cannot be started: ${why}.\n`);
		return 1;
	}
	const place = { agentDir, runDir: dir };
	const claimed = await claim(place).catch((error: Error) => error);
	if (claimed === false) return 0; // another wrapper runs it, or its watcher gave up
	const { launch, spec } = meta;
	const letGo = systemClock.hold?.(); // the clock's timers alone would not keep the process alive
	// The reader is gone; the files remain.
	for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
	const terminal = launch.showsProgress ? progressTerminal(meta, print) : resultTerminal(print);
	const run = new WrappedRun({ ...place, meta: { ...meta, launch }, clock: systemClock, onLine: terminal.line });
	onSignals(run, launch.showsProgress);
	if (spec.outlives !== true) onLostParent(parentSocket, () => run.abort(PARENT_LOST));
	process.on("uncaughtException", (error) => run.crash(error));
	if (claimed !== true) run.crash(claimed); // in an unwritable directory the run would be invisible
	if (isOtherBuild(parents)) run.crash(new Error(`pi-subagents was updated while this run was started: ${RESTART}`));
	if (launch.showsProgress) await ignoreFlowControl();
	terminal.begin();
	const result = await withWorktree(await run.live(), spec);
	const isKept = await keep(place, result);
	if (parentSocket) await send(parentSocket, `${JSON.stringify(result)}\n`);
	parentSocket?.end(); // a process that waits for this line need not wait for our exit
	await terminal.end(result);
	if (alertRules) await announce(alertRules, meta, result);
	const { status } = result.outcome;
	// A reader without the result file waits for our exit.
	if (launch.showsProgress && isKept && status !== "aborted") await readingTime(print, systemClock);
	letGo?.();
	return 0;
}

const RESTART = "restart pi, and launch the agent again.";

/** The files were replaced between the look of the process that started us and our start: we may not speak its language. */
function isOtherBuild(parents: string | undefined): boolean {
	return BUILD !== undefined && parents !== undefined && parents !== BUILD;
}

/** pi may be closed, so this process says that the run has ended. */
async function announce(rules: AlertRules, { agentId, preset, cwd, spec }: Meta, result: ResultFile): Promise<void> {
	const { outcome, startedAt, completedAt, durationMs = completedAt - startedAt } = result;
	const agent = { id: agentId, type: preset, description: spec.description, cwd };
	const alert = settledAlert(rules, agent, { outcome, durationMs });
	const report = (message: string) => process.stderr.write(`${message}\n`);
	if (alert) await bestEffort("The notification", report, () => runAlertCommand(alert, rules.command));
}

async function keep(place: RunPlace, result: ResultFile): Promise<boolean> {
	try {
		return await writeOwnResult(place, result);
	} catch (error) {
		process.stderr.write(`${join(place.runDir, RUN_FILES.result)} could not be written: ${messageOf(error)}\n`);
		return false;
	}
}

/** The record decides. The file in the run's directory is for those who look from outside. */
async function claim(place: RunPlace): Promise<boolean> {
	const file: WrapperFile = { type: "started", at: Date.now(), ...(await identityOf(process.pid)) };
	const isOurs = await new RunProcesses(place).recordWrapper(file, file.at);
	if (isOurs) await createWhole(join(place.runDir, RUN_FILES.wrapper), `${JSON.stringify(file)}\n`);
	return isOurs;
}

function onSignals(run: WrappedRun, hasWindow: boolean): void {
	process.on("SIGTERM", () => run.abort(SHUTDOWN));
	process.on("SIGINT", () => run.abort(hasWindow ? INTERRUPTED : SHUTDOWN));
	process.on("SIGHUP", () => run.abort(hasWindow ? WINDOW_CLOSED : SHUTDOWN));
}

/** The process that started us holds the other end of the socket, or of our input, while it lives. */
function onLostParent(parentSocket: Socket | undefined, work: () => void): void {
	if (parentSocket) {
		if (parentSocket.destroyed) work();
		else parentSocket.once("close", work);
		return;
	}
	const input = fstatSync(0);
	if (!input.isFIFO() && !input.isSocket()) return; // a terminal or nothing: says nothing about our parent
	process.stdin.on("end", work).on("error", work).resume();
}

function print(text: string): Promise<void> {
	return send(process.stdout, text);
}

function send(to: Writable, text: string): Promise<void> {
	return new Promise((resolve) => {
		systemClock.after(PRINT_MS, resolve);
		to.write(text, () => resolve());
	});
}

/** Replaces this process's environment. Rejects if no one provides one: then no one waits for the run. */
async function takeEnvironment(path: string): Promise<Socket> {
	const socket = connect(path);
	const env = parseJson(await firstLine(socket));
	if (!Check(environmentSchema, env)) throw new Error(`${path} gave no environment`);
	for (const name of Object.keys(process.env)) delete process.env[name];
	Object.assign(process.env, env);
	return socket;
}

/** Keeps the socket flowing, so that its end is seen. */
function firstLine(socket: Socket): Promise<string> {
	const { promise, resolve, reject } = Promise.withResolvers<string>();
	let text = "";
	socket.setEncoding("utf8").on("data", (piece: string) => {
		text += piece;
		if (text.endsWith("\n")) resolve(text);
	});
	socket.on("error", reject);
	socket.once("close", () => reject(new Error("the process that started this run is gone")));
	return promise;
}
