/** Keeps a window open after a run has ended, so that whoever watches can read how. */
import type { Clock } from "../../clock.ts";
import type { Print } from "./terminal.ts";

/** Nothing may stay for ever because nobody looks. */
const READING_MS = 60_000;

/** Resolves when it was read, was closed, or nobody will read it. At once where nobody can. */
export function readingTime(print: Print, { after }: Pick<Clock, "after">): Promise<void> {
	return new Promise((resolve) => {
		const { stdin } = process;
		if (!stdin.isTTY) return resolve();
		const end = () => resolve();
		after(READING_MS, end);
		stdin.on("data", end).on("end", end).on("error", end);
		for (const signal of ["SIGHUP", "SIGTERM", "SIGINT"] as const) process.on(signal, end);
		void print(`Enter closes this window. By itself it closes after ${READING_MS / 1_000} s.\n`);
	});
}
