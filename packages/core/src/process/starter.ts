/** How a wrapper is started: as a process that outlives this one, tied to it only by pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { sanitize } from "@pi-subagents/progress";
import { codeOf } from "./code-of.ts";
import { hearLastLine } from "./last-line.ts";

/** What a wrapper needs to be started. Whoever starts it adds only where that happens. */
interface StartOrder {
	command: string;
	args: readonly string[];
	cwd: string;
	/** All of its environment. */
	env: Readonly<Record<string, string | undefined>>;
	runDir: string;
	/** What a person would call it. */
	title: string;
	/** Nobody wants it any more, also while it is being started. */
	signal: AbortSignal;
}

/** A wrapper that was started and may not have said anything yet. */
export interface StartedWrapper {
	/** Resolves when it is gone. Absent where that cannot be seen; then its own word about its process must do. */
	readonly ended?: Promise<WrapperEnd>;
	/** Ends it at once. */
	kill(): void;
	/** Cuts what ties it to this process. It goes on. */
	letGo(): void;
}

export interface WrapperEnd {
	/** In words, such as `it was killed by SIGKILL`. */
	how: string;
	/** The last line it wrote on its output: its result, if it could not write that to a file. */
	lastLine?: string;
}

/** Rejects if it cannot be started at all. */
export type Starter = (order: StartOrder) => Promise<StartedWrapper>;

/** What is kept of the complaints of a wrapper. */
const MAX_COMPLAINT_CHARACTERS = 16 * 1024;
const MAX_COMPLAINT_LENGTH = 500;

export const startDetached: Starter = async ({ command, args, cwd, env }) => {
	const child = spawn(command, args, {
		cwd,
		env,
		// A group of its own: what ends our group, such as Ctrl+C in a terminal, must not end it.
		detached: true,
		windowsHide: true,
		// It learns from the end of its input that we are gone, and may tell its result on its output.
		stdio: ["pipe", "pipe", "pipe"],
	});
	const { stdin, stdout, stderr } = child;
	const ended = Promise.withResolvers<WrapperEnd>();
	let complaints = "";
	for (const pipe of [stdin, stdout, stderr]) pipe.on("error", ignore); // it is gone, and `ended` says so
	const said = hearLastLine(stdout);
	stderr.setEncoding("utf8").on("data", (text: string) => {
		complaints = (complaints + text).slice(-MAX_COMPLAINT_CHARACTERS);
	});
	child.once("close", (code, signal) => {
		const why = code === 0 ? "" : complaintIn(complaints);
		const exit = `it ended with exit code ${code}${why === "" ? "" : `: ${why}`}`;
		const lastLine = said();
		ended.resolve({
			how: signal === null ? exit : `it was killed by ${signal}`,
			...(lastLine === undefined ? {} : { lastLine }),
		});
	});
	await new Promise((resolve, reject) => child.once("spawn", () => resolve(undefined)).once("error", reject));
	child.on("error", ignore); // a signal that could not be sent; it does not end us
	// None of this keeps our process running: only the manager decides that.
	child.unref();
	for (const pipe of [stdin, stdout, stderr]) if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
	return {
		ended: ended.promise,
		kill: () => killGroup(child),
		letGo() {
			for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
		},
	};
};

/** The line that says what went wrong: in a report of Node's it comes before the stack and Node's version. */
function complaintIn(text: string): string {
	const lines = text.split("\n").map((line) => sanitize(line).trim());
	const line = lines.findLast((each) => /^\w*Error\b/.test(each)) ?? lines.findLast((each) => each !== "") ?? "";
	return line.slice(0, MAX_COMPLAINT_LENGTH);
}

function killGroup(child: ChildProcess): void {
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
	try {
		process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
	} catch (error) {
		if (codeOf(error) !== "ESRCH") throw error; // it went in the meantime
	}
}

/** A program that JavaScript was compiled into runs scripts only when it is told to. */
export function scriptVariables(execPath: string): Record<string, string> {
	return /^(?:node|bun)(?:\.exe)?$/i.test(basename(execPath)) ? {} : { BUN_BE_BUN: "1" };
}

const ignore = (): void => undefined;
