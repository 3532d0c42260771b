/** Print mode: one prompt in, the final text out. */
import { DEFAULT_WAIT_MS } from "../wait.ts";
import { type ExitStatus, isRunning, startProcess } from "./pi-process.ts";
import { commandOf, type PiTarget } from "./target.ts";

export interface PrintResult extends ExitStatus {
	readonly stdout: string;
	readonly stderr: string;
}

/** `pi -p`. The exit code is 1 if the model failed. */
export function runPrint(target: PiTarget, prompt: string): Promise<PrintResult> {
	return runToEnd(target, { mode: ["-p"], prompt });
}

/** Runs pi until it exits by itself. An error after the timeout shows what it wrote until then. */
export async function runToEnd(
	target: PiTarget,
	run: { readonly mode: readonly string[]; readonly prompt: string },
): Promise<PrintResult> {
	let stdout = "";
	const pi = startProcess(target.env, commandOf(target, { mode: run.mode, last: ["--", run.prompt] }), {
		stdin: "ignore", // with an open pipe pi reads its input to the end first, that is for ever
		onStdout: (text) => {
			stdout += text;
		},
	});
	const timeoutMs = target.timeoutMs ?? DEFAULT_WAIT_MS;
	let timer: NodeJS.Timeout | undefined;
	const timeout = new Promise<never>((_, reject) => {
		timer = setTimeout(() => {
			const state = isRunning(pi.child) ? "still runs" : "has exited, but a child of it holds its output open";
			reject(new Error(`pi ${state} after ${timeoutMs} ms\n--- stderr\n${pi.stderr}\n--- stdout\n${stdout}`));
		}, timeoutMs);
	});
	try {
		const status = await Promise.race([pi.closed, timeout]);
		return { stdout, stderr: pi.stderr, ...status };
	} finally {
		clearTimeout(timer);
		await pi.end();
	}
}
