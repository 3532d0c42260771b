/**
 * A pi process without a terminal. It ends with its environment.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { PiEnv } from "../pi/pi-env.ts";
import { graceMs } from "../wait.ts";

export interface ExitStatus {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
}

export interface PiProcess {
	readonly child: ChildProcess;
	readonly stderr: string;
	/** Resolves when the process is gone and its output complete; never rejects. */
	readonly closed: Promise<ExitStatus>;
	/** SIGTERM, and SIGKILL for it and its process group if that does not help. */
	end(): Promise<void>;
}

export function startProcess(
	env: PiEnv,
	[program, args]: readonly [string, readonly string[]],
	options: { readonly stdin: "ignore" | "pipe"; readonly onStdout: (text: string) => void },
): PiProcess {
	const child = spawn(program, args, {
		cwd: env.cwd,
		env: env.variables,
		stdio: [options.stdin, "pipe", "pipe"],
		detached: process.platform !== "win32", // its own process group, so that no child survives
	});
	let stderr = "";
	child.stdout?.setEncoding("utf8").on("data", options.onStdout);
	child.stderr?.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
	});
	const exited = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", (error) => {
			stderr += String(error);
			resolve();
		});
	});
	const closed = new Promise<ExitStatus>((resolve) => {
		child.once("close", (code, signal) => resolve({ code, signal }));
	});

	const end = async () => {
		if (isRunning(child)) {
			child.kill("SIGTERM");
			const timer = setTimeout(() => killGroup(child), graceMs());
			await exited;
			clearTimeout(timer);
			killGroup(child); // its remaining children
		}
		child.stdout?.destroy();
		child.stderr?.destroy();
	};
	env.onCleanup(end);
	return {
		child,
		get stderr() {
			return stderr;
		},
		closed,
		end,
	};
}

export function isRunning(child: ChildProcess): boolean {
	return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function killGroup(child: ChildProcess): void {
	if (child.pid === undefined) return;
	try {
		if (process.platform === "win32") child.kill("SIGKILL");
		else process.kill(-child.pid, "SIGKILL");
	} catch {
		// The group is empty.
	}
}
