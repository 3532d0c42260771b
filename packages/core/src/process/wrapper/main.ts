/**
 * `node wrapper.js <directory of a run> [<socket>]`: runs pi for one run and outlives whoever started it. Ties the run to
 * this process: its arguments, signals, input and output. Its last act is the result.
 */
import { fstatSync } from "node:fs";
import type { Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { messageOf } from "../../best-effort.ts";
import { systemClock } from "../../clock.ts";
import type { Stop } from "../../runner.ts";
import { createWhole } from "../create.ts";
import { identityOf } from "../identity.ts";
import { type ResultFile, RUN_FILES, type WrapperFile } from "../layout.ts";
import { readMeta } from "../read.ts";
import { writeResult } from "../result.ts";
import { ignoreFlowControl } from "./flow-control.ts";
import { readingTime } from "./reading-time.ts";
import { WrappedRun } from "./run.ts";
import { progressTerminal, resultTerminal } from "./terminal.ts";
import { takeEnvironment } from "./tie.ts";
import { withWorktree } from "./worktree.ts";

/** How long a reader of our output may take before we go without it. */
const PRINT_MS = 2_000;
const SHUTDOWN: Stop = { by: "shutdown" };
const WINDOW_CLOSED: Stop = { by: "user", reason: "its window was closed" };
const INTERRUPTED: Stop = { by: "user", reason: "Ctrl+C in its window" };
const PARENT_LOST: Stop = { by: "lost", reason: "the session that waited for it ended" };

// Ends also what would keep us: an input or a tie that is still open.
process.exit(await main(resolve(process.argv[2] ?? "."), process.argv[3]));

/** Returns the exit code. */
async function main(dir: string, socket: string | undefined): Promise<number> {
	const tie = socket === undefined ? undefined : await takeEnvironment(socket);
	const meta = await readMeta(dir);
	if (typeof meta === "string" || !meta.launch) {
		const why = typeof meta === "string" ? meta : `${join(dir, RUN_FILES.meta)} does not say how to start pi`;
		process.stderr.write(`This run cannot be started: ${why}.\n`);
		return 1;
	}
	const claimed = await claim(dir).catch((error: Error) => error);
	if (claimed === false) return 0; // somebody runs it already, or nobody waits for it any more
	const { launch, spec } = meta;
	const letGo = systemClock.hold?.(); // the timers of the clock alone would not keep us here
	// Whoever read it is gone; the files are there.
	for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
	const terminal = launch.showsProgress ? progressTerminal(meta, print) : resultTerminal(print);
	const run = new WrappedRun({ dir, meta: { ...meta, launch }, clock: systemClock, onLine: terminal.line });
	onSignals(run, launch.showsProgress);
	if (spec.outlives !== true) onLostParent(tie, () => run.abort(PARENT_LOST));
	process.on("uncaughtException", (error) => run.crash(error));
	if (claimed !== true) run.crash(claimed); // a directory that cannot be written to would hide the run from everybody
	if (launch.showsProgress) await ignoreFlowControl();
	terminal.begin();
	const result = await withWorktree(await run.live(), spec);
	const isKept = await keep(dir, result);
	if (tie) await send(tie, `${JSON.stringify(result)}\n`);
	await terminal.end(result);
	const { status } = result.outcome;
	// Whoever has only what we told them waits for our end.
	if (launch.showsProgress && isKept && status !== "aborted") await readingTime(print, systemClock);
	letGo?.();
	return 0;
}

async function keep(dir: string, result: ResultFile): Promise<boolean> {
	try {
		return await writeResult(dir, result);
	} catch (error) {
		process.stderr.write(`${join(dir, RUN_FILES.result)} could not be written: ${messageOf(error)}\n`);
		return false;
	}
}

async function claim(dir: string): Promise<boolean> {
	const file: WrapperFile = { type: "started", at: Date.now(), ...(await identityOf(process.pid)) };
	return createWhole(join(dir, RUN_FILES.wrapper), `${JSON.stringify(file)}\n`);
}

function onSignals(run: WrappedRun, hasWindow: boolean): void {
	process.on("SIGTERM", () => run.abort(SHUTDOWN));
	process.on("SIGINT", () => run.abort(hasWindow ? INTERRUPTED : SHUTDOWN));
	process.on("SIGHUP", () => run.abort(hasWindow ? WINDOW_CLOSED : SHUTDOWN));
}

/** Whoever started us holds the other end of the tie, or else of our input, for as long as it lives. */
function onLostParent(tie: Socket | undefined, work: () => void): void {
	if (tie) {
		if (tie.destroyed) work();
		else tie.once("close", work);
		return;
	}
	const input = fstatSync(0);
	if (!input.isFIFO() && !input.isSocket()) return; // a terminal or nothing: it says nothing about anybody
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
