/**
 * Runs a command of the user to its end: in its own process group, with bounded output and a time limit. Nothing of the
 * group is left when it has ended, was stopped, or this process is killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { sanitizeBlock } from "@pi-subagents/progress";
import { type Clock, steadyClock, wholeMs } from "../base/clock.ts";
import { untilSpawned, whyNotStarted } from "../base/spawn-error.ts";
import { GROUP_GUARD, signalChildGroup } from "../signals/signals.ts";

/** Text for the user's shell, or a program with its arguments. */
export type Command = string | readonly string[];

export interface CommandOptions {
	command: Command;
	cwd: string;
	clock: Clock;
	/** Absent: no limit. */
	timeoutMs?: number | undefined;
	/** Stops it. */
	signal?: AbortSignal | undefined;
	/** What it reads on its standard input; nothing when absent. */
	input?: string | undefined;
	/** The program that it runs inside, with its arguments. */
	around?: readonly string[] | undefined;
	/** Variables besides those of this process. */
	env?: Readonly<Record<string, string>> | undefined;
}

/** How it ended. */
export interface CommandEnd {
	how: "exited" | "killed" | "timed_out" | "stopped" | "not_started";
	/** The exit code, if it exited. */
	code?: number;
	/** The signal that ended it, or why it could not be started. */
	why?: string;
	durationMs: number;
	/** The end of what it printed, sanitized. */
	tail: string;
	/** All of what it printed on its standard output; undefined if that was too much. */
	stdout: string | undefined;
}

const MAX_TAIL = 4_000;
const MAX_STDOUT = 1_000_000;
/** How long it may take to end after SIGTERM. */
const TERM_MS = 1_000;
/** A process that left the group, such as a daemon, may hold the output open: it is not waited for any longer. */
const DRAIN_MS = 1_000;

/**
 * Why commands cannot be run on this system. The guard needs `sh`, a process group, and a pipe that a shell inherits;
 * Windows has none of them, and without the guard a command could outlive its agent.
 */
export function whyNoCommands(platform: NodeJS.Platform): string | undefined {
	return platform === "win32" ? "commands cannot be run on Windows; use WSL" : undefined;
}

/** Never rejects. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
	const { command, cwd, timeoutMs, signal, input, env, around = [] } = options;
	const why = whyNoCommands(process.platform);
	if (why !== undefined) return { how: "not_started", why, durationMs: 0, tail: "", stdout: "" };
	const clock = steadyClock(options.clock);
	const startedAt = clock.now();
	const output = new BoundedOutput();
	const child = spawn("sh", ["-c", GROUP_GUARD, "sh", ...around, ...argvOf(command)], {
		cwd,
		env: { ...process.env, ...env },
		stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"],
		detached: true,
		windowsHide: true,
	});
	const spawned = untilSpawned(child);
	let how: CommandEnd["how"] | undefined;
	const cancels: (() => void)[] = [];
	const end = (why: "timed_out" | "stopped") => {
		if (how !== undefined || child.pid === undefined) return;
		how = why;
		signalChildGroup(child, "SIGTERM");
		cancels.push(clock.after(TERM_MS, () => signalChildGroup(child, "SIGKILL")));
	};
	const onStop = () => end("stopped");
	signal?.addEventListener("abort", onStop, { once: true });
	if (signal?.aborted) onStop();
	if (timeoutMs !== undefined) cancels.push(clock.after(timeoutMs, () => end("timed_out")));
	const release = options.clock.hold?.(); // the clock's timers alone would not keep the process alive
	try {
		await spawned;
		child.stdin?.on("error", () => undefined); // it does not read, or has ended
		child.stdin?.end(input);
		child.once("exit", () => {
			const leave = () => {
				for (const pipe of child.stdio) pipe?.destroy();
			};
			cancels.push(clock.after(DRAIN_MS, () => void setImmediate(leave))); // what was printed is read first
		});
		const { code, killedBy } = await ended(child, output);
		return {
			how: how ?? (killedBy === undefined ? "exited" : "killed"),
			...(code === undefined ? {} : { code }),
			...(killedBy === undefined ? {} : { why: killedBy }),
			durationMs: wholeMs(startedAt, clock.now()),
			tail: output.tail,
			stdout: output.stdout,
		};
	} catch (error) {
		// Otherwise it would look as if the shell were missing.
		const why = existsSync(cwd) ? whyNotStarted(error) : `the directory ${cwd} is gone`;
		return { how: "not_started", why, durationMs: 0, tail: "", stdout: "" };
	} finally {
		release?.();
		for (const cancel of cancels) cancel();
		signal?.removeEventListener("abort", onStop);
	}
}

/** The command on one line, for people: a program with its arguments as they can be typed into a shell. */
export function commandText(command: Command): string {
	const text = typeof command === "string" ? command : command.map(quoted).join(" ");
	return text.trim().replace(/\s*\n\s*/g, "; ");
}

function quoted(word: string): string {
	return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function argvOf(command: Command): readonly string[] {
	return typeof command === "string" ? [process.env.SHELL || "sh", "-c", command] : command;
}

/** Resolves when the command, what it left in its group, and its output have ended. */
function ended(child: ChildProcess, output: BoundedOutput): Promise<{ code?: number; killedBy?: string }> {
	child.stdout?.on("data", (bytes: Buffer) => output.add(bytes, "stdout"));
	child.stderr?.on("data", (bytes: Buffer) => output.add(bytes, "stderr"));
	child.stdio[3]?.on("error", () => undefined); // it is closed from the other side
	return new Promise((resolve) => {
		// The guard is still there, so the group's number is not taken by another.
		child.once("exit", () => signalChildGroup(child, "SIGKILL"));
		child.once("close", (code, signal) =>
			resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { killedBy: signal }) }),
		);
	});
}

/** Keeps the end of everything, and all of the standard output as long as it is not too much. */
class BoundedOutput {
	readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
	#tail = "";
	#stdout: string | undefined = "";

	add(bytes: Buffer, from: "stdout" | "stderr"): void {
		const text = this.#decoders[from].write(bytes);
		this.#tail = (this.#tail + text).slice(-2 * MAX_TAIL);
		if (from === "stderr" || this.#stdout === undefined) return;
		this.#stdout = this.#stdout.length + text.length > MAX_STDOUT ? undefined : this.#stdout + text;
	}

	get tail(): string {
		return sanitizeBlock(this.#tail).trim().slice(-MAX_TAIL);
	}

	get stdout(): string | undefined {
		return this.#stdout;
	}
}
