/**
 * The files of a run's directory: the contract between the wrapper, which writes most of them, and a run's watchers.
 * `wrapper.json` and `result.json` are each created once, atomically, and never changed. `wrapper.json` is for people and
 * programs that look from outside: which processes run and watch a run is decided by the records in pi's own directory
 * (`signals/run-processes.ts`).
 */
import { basename, dirname, join } from "node:path";

export const RUN_FILES = {
	/** In each run's directory: one further up may be the project's and hide nothing. */
	ignore: ".gitignore",
	meta: "meta.json",
	events: "events.jsonl",
	result: "result.json",
	stdout: "stdout.log",
	stderr: "stderr.log",
	transcript: "transcript.log",
	session: "child-session.jsonl",
	systemPrompt: "system-prompt.md",
	control: "control.jsonl",
	wrapper: "wrapper.json",
	live: "live.jsonl",
	/** Where the run is, if that is another machine. */
	remote: "remote.json",
} as const;

/** In a run's directory: the files of its first attempt, which another machine lost. */
export const LOST_DIR = "lost";

/** Where they are between the two attempts, beside the run's directory. */
export function betweenAttempts(dir: string): string {
	return join(dirname(dir), `.${basename(dir)}.${LOST_DIR}`);
}
