/** Starts a wrapper as a process that outlives this one, connected only by pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { defined, untilSpawned, whyNotStarted } from "@pi-subagents/core/internal/base";
import { hearLastLine } from "@pi-subagents/core/internal/files";
import type { RunProcesses } from "@pi-subagents/core/internal/signals";
import { signalChildGroup } from "@pi-subagents/core/internal/signals";
import { sanitize } from "@pi-subagents/progress";

/** What a wrapper needs to be started. */
interface StartOrder {
	command: string;
	args: readonly string[];
	cwd: string;
	/** All of its environment. */
	env: Readonly<Record<string, string | undefined>>;
	/** What it records about itself. */
	processes: RunProcesses;
	/** For people. */
	title: string;
	/** Fires when it is no longer wanted, even while it starts. */
	signal: AbortSignal;
}

/** A wrapper that was started and may not have written anything yet. */
export interface StartedWrapper {
	/** Resolves when it is gone. Absent if that cannot be seen; then its own file must do. */
	readonly ended?: Promise<WrapperEnd>;
	/** It always sends its result as the last line of its output, besides writing it where the agent can write, too. */
	readonly sendsResult?: true;
	/** Absent if this process does not hold it: then its record says which process it is. */
	endNow?(): void;
	/** See `Run.onReach`. */
	onReach?(listener: (isReached: boolean) => void): void;
	/** Disconnects it from this process. It continues. */
	letGo(): void;
}

export interface WrapperEnd {
	/** For example `it was killed by SIGKILL`. */
	how: string;
	/** The last line of its output: its result. */
	lastLine?: string;
}

/** Rejects if it cannot be started at all. */
export type Starter = (order: StartOrder) => Promise<StartedWrapper>;

/** Bounds a wrapper's error output. */
const MAX_COMPLAINT_CHARACTERS = 16 * 1024;
const MAX_COMPLAINT_LENGTH = 500;

export const startDetached: Starter = async ({ command, args, cwd, env }) => {
	const child = spawnWrapper(command, args, { cwd, env });
	const spawned = untilSpawned(child);
	const { stdin, stdout, stderr } = child;
	if (!stdin || !stdout || !stderr) {
		await spawned.catch(refuse);
		throw new Error("The agent's process has no pipes.");
	}
	const ended = Promise.withResolvers<WrapperEnd>();
	let complaints = "";
	for (const pipe of [stdin, stdout, stderr]) pipe.on("error", ignore); // it is gone, which `ended` reports
	const said = hearLastLine(stdout);
	stderr.setEncoding("utf8").on("data", (text: string) => {
		complaints = (complaints + text).slice(-MAX_COMPLAINT_CHARACTERS);
	});
	child.once("close", (code, signal) => {
		const why = code === 0 ? "" : complaintIn(complaints);
		const exit = `it ended with exit code ${code}${why === "" ? "" : `: ${why}`}`;
		const lastLine = said();
		ended.resolve({ how: signal === null ? exit : `it was killed by ${signal}`, ...defined({ lastLine }) });
	});
	await spawned.catch(refuse);
	// None of this keeps our process alive: only the manager decides that.
	child.unref();
	for (const pipe of [stdin, stdout, stderr]) if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
	return {
		ended: ended.promise,
		sendsResult: true,
		endNow: () => signalChildGroup(child, "SIGKILL"),
		letGo() {
			for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
		},
	};
};

/** Without free handles there are no pipes, unlike in Node's type. */
function spawnWrapper(command: string, args: readonly string[], place: Pick<StartOrder, "cwd" | "env">): ChildProcess {
	try {
		return spawn(command, args, {
			...place,
			// Its own group: Ctrl+C in our terminal must not end it.
			detached: true,
			windowsHide: true,
			// It learns from the end of its input that we are gone, and may send its result on its output.
			stdio: ["pipe", "pipe", "pipe"],
		});
	} catch (error) {
		return refuse(error);
	}
}

function refuse(error: unknown): never {
	throw new Error(`The agent's process could not be started: ${whyNotStarted(error)}`, { cause: error });
}

/** The error line: Node prints it before the stack and its version. */
function complaintIn(text: string): string {
	const lines = text.split("\n").map((line) => sanitize(line).trim());
	const line = lines.findLast((each) => /^\w*Error\b/.test(each)) ?? lines.findLast((each) => each !== "") ?? "";
	return line.slice(0, MAX_COMPLAINT_LENGTH);
}

/** A compiled JavaScript program runs scripts only with this variable. */
export function scriptVariables(execPath: string): Record<string, string> {
	return /^(?:node|bun)(?:\.exe)?$/i.test(basename(execPath)) ? {} : { BUN_BE_BUN: "1" };
}

const ignore = (): void => undefined;
