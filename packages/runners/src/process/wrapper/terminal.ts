/**
 * What the wrapper prints: progress for a person, or only the result for a program. Also keeps a window readable
 * after the run.
 */

import { spawn } from "node:child_process";
import type { Clock } from "@pi-subagents/core";
import { endText, sanitize } from "@pi-subagents/progress";
import type { Meta, ResultFile } from "@pi-subagents/runs";

export interface Terminal {
	begin(): void;
	/** A line of the transcript. */
	line(text: string): void;
	end(result: ResultFile): Promise<void>;
}

/** Resolves when the text was written, or never can be. */
export type Print = (text: string) => Promise<void>;

export function progressTerminal({ agentId, preset, task }: Meta, print: Print): Terminal {
	const show = (text: string) => print(`${sanitize(text)}\n`);
	return {
		begin: () => void show(`Agent ${agentId} (${preset}): ${task.trim().split("\n", 1)[0]}`),
		line: (text) => void show(text),
		end: ({ outcome, durationMs = 0 }) => show(endText(outcome, { durationMs })),
	};
}

export function resultTerminal(print: Print): Terminal {
	return {
		begin: () => undefined,
		line: () => undefined,
		end: (result) => print(`${JSON.stringify(result)}\n`),
	};
}

/** Disables Ctrl+S, which would stop the output and with it the run. Does nothing without a terminal or `stty`. */
export function ignoreFlowControl(): Promise<void> {
	return new Promise((resolve) => {
		if (!process.stdin.isTTY) return resolve();
		const stty = spawn("stty", ["-ixon"], { stdio: ["inherit", "ignore", "ignore"] });
		stty.once("error", () => resolve()).once("close", () => resolve());
	});
}

/** A window must not stay open forever. */
const READING_MS = 60_000;

/**
 * Keeps the window open for reading. Resolves on a key, when it is closed, or after a minute; immediately without a
 * terminal.
 */
export function readingTime(print: Print, { after }: Pick<Clock, "after">): Promise<void> {
	return new Promise((resolve) => {
		const { stdin } = process;
		if (!stdin.isTTY) return resolve();
		const end = () => resolve();
		after(READING_MS, end);
		stdin.on("data", end).on("end", end).on("error", end);
		for (const signal of ["SIGHUP", "SIGTERM", "SIGINT"] as const) process.on(signal, end);
		void print(`Press Enter to close this window. It closes by itself after ${READING_MS / 1_000} s.\n`);
	});
}
