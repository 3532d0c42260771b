/** Print and JSON mode: one prompt in, the final text or all events out. */
import { patienceMs, whenImpatient } from "../wait.ts";
import { LineSplitter, type PiEvent, parseLine } from "./events.ts";
import { type ExitStatus, isRunning, startProcess } from "./pi-process.ts";
import { commandOf, type PiTarget } from "./target.ts";

export interface PrintResult extends ExitStatus {
	readonly stdout: string;
	readonly stderr: string;
}

export interface JsonResult extends ExitStatus {
	readonly events: readonly PiEvent[];
	readonly stderr: string;
}

/** `pi -p`. The exit code is 1 if the model failed. */
export function runPrint(target: PiTarget, prompt: string): Promise<PrintResult> {
	return runToEnd(target, { mode: ["-p"], prompt });
}

/** `echo prompt | pi -p`: pi takes an argument that begins with an @ for a file. */
export function pipeToPrint(target: PiTarget, prompt: string): Promise<PrintResult> {
	return runToEnd(target, { mode: ["-p"], prompt, isPiped: true });
}

/** `pi --mode json`. The exit code is 0 even if the model failed: look at the last assistant message. */
export async function runJson(target: PiTarget, prompt: string): Promise<JsonResult> {
	const { stdout, ...rest } = await runToEnd(target, { mode: ["--mode", "json"], prompt });
	const lines = new LineSplitter().push(`${stdout}\n`);
	return { events: lines.map((line) => parseLine(line) as PiEvent), ...rest };
}

/** Runs pi until it exits. The error after the timeout shows its output so far. */
async function runToEnd(
	target: PiTarget,
	{ mode, prompt, isPiped = false }: { mode: readonly string[]; prompt: string; isPiped?: boolean },
): Promise<PrintResult> {
	let stdout = "";
	const pi = startProcess(target.env, commandOf(target, { mode, last: isPiped ? [] : ["--", prompt] }), {
		stdin: isPiped ? "pipe" : "ignore", // with an open pipe, pi would wait for the end of its input
		onStdout: (text) => {
			stdout += text;
		},
	});
	pi.child.stdin?.end(prompt);
	let stopTimer = () => {};
	const timeout = new Promise<never>((_, reject) => {
		const giveUp = (waitedMs: number) => {
			const state = isRunning(pi.child)
				? "is still running"
				: "has exited, but one of its children keeps its output open";
			reject(new Error(`pi ${state} after ${waitedMs} ms\n--- stderr\n${pi.stderr}\n--- stdout\n${stdout}`));
		};
		stopTimer = whenImpatient(giveUp, () => target.timeoutMs ?? patienceMs(2)); // a start, and all that pi does
	});
	try {
		const status = await Promise.race([pi.closed, timeout]);
		return { stdout, stderr: pi.stderr, ...status };
	} finally {
		stopTimer();
		await pi.end();
	}
}
