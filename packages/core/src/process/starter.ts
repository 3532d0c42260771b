/** How a wrapper is started: as a process that outlives this one, tied to it only by two pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { codeOf } from "./code-of.ts";

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

/** A result is long only because of the text in it. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;

export const startDetached: Starter = async ({ command, args, cwd, env }) => {
	const child = spawn(command, args, {
		cwd,
		env,
		// A group of its own: what ends our group, such as Ctrl+C in a terminal, must not end it.
		detached: true,
		windowsHide: true,
		// It learns from the end of its input that we are gone, and may tell its result on its output.
		stdio: ["pipe", "pipe", "ignore"],
	});
	const { stdin, stdout } = child;
	const ended = Promise.withResolvers<WrapperEnd>();
	let output = "";
	stdin.on("error", ignore); // it is gone, and `ended` says so
	stdout.on("error", ignore);
	stdout.setEncoding("utf8").on("data", (text: string) => {
		if (output.length < MAX_OUTPUT_CHARACTERS) output += text;
	});
	child.once("close", (code, signal) => {
		const how = signal === null ? `it ended with exit code ${code}` : `it was killed by ${signal}`;
		const lastLine = output.trimEnd().split("\n").at(-1) ?? "";
		ended.resolve({ how, ...(lastLine === "" ? {} : { lastLine }) });
	});
	await new Promise((resolve, reject) => child.once("spawn", () => resolve(undefined)).once("error", reject));
	child.on("error", ignore); // a signal that could not be sent; it does not end us
	// None of this keeps our process running: only the manager decides that.
	child.unref();
	for (const pipe of [stdin, stdout]) if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
	return {
		ended: ended.promise,
		kill: () => killGroup(child),
		letGo() {
			stdin.destroy();
			stdout.destroy();
		},
	};
};

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
