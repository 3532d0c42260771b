/**
 * What lies in the directory of a run, and what its files say to each other. The one contract between the wrapper, which
 * writes most of them, and whoever watches a run, now or after a restart. Types and names only.
 *
 * `events.jsonl` goes from the wrapper to the watcher, `control.jsonl` the other way; both only grow, one JSON object a
 * line. Whoever reads them takes a last line without its LF for not written yet, and an unknown `type` for news from a
 * newer version. `wrapper.json`, `owner-<n>.json` and `result.json` are each created once, whole, and never changed.
 */
import type { ChildEvent, Outcome, Usage } from "@pi-subagents/progress";
import type { Answer, Question } from "../asking.ts";
import type { Limits, RunSpec, Stop } from "../runner.ts";

export const RUN_FILES = {
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
} as const;

/** Written before anything is started: what the run is, for people and for the wrapper, which gets its orders from here. */
export interface Meta {
	format: 1;
	createdBy: "pi-subagents";
	runId: string;
	agentId: string;
	run: number;
	/** Milliseconds since the epoch. */
	createdAt: number;
	/** The parent's pi session. */
	parentSessionId?: string;
	preset: string;
	/** The preset's file. */
	presetSource?: string;
	task: string;
	cwd: string;
	tools: readonly string[];
	systemPrompt?: string;
	systemPromptPath?: string;
	requestedModel?: string;
	resolvedModel: string;
	/** Everything that was resolved, so that the run can be rejoined with its limits. */
	spec: RunSpec;
	/** Absent for a run inside the parent's own process. */
	launch?: PiLaunch;
}

/** How the wrapper starts pi. Arguments are passed as they are; there is no shell. */
export interface PiLaunch {
	command: string;
	args: readonly string[];
	/** Added to the wrapper's own environment. */
	env: Readonly<Record<string, string>>;
	/** Whether the wrapper shows its progress on its own terminal. */
	showsProgress: boolean;
}

/** A process, so that another one with the same number is not taken for it. */
export interface ProcessIdentity {
	pid: number;
	/** When it was started, in the machine's own terms; null where that cannot be found out. */
	born: string | null;
	host: string;
	/** Changes with every start of the machine; null where that cannot be found out. */
	boot: string | null;
	/** Within which the number means something: containers count their own. Null where that cannot be found out. */
	space?: string | null;
}

/** `wrapper.json`. Whoever creates it first decides: a wrapper that starts, or a watcher that gave up waiting for one. */
export type WrapperFile = ({ type: "started"; at: number } & ProcessIdentity) | { type: "given_up"; at: number };

/** `owner-<n>.json`: who watches the run. The highest n counts; taking over means creating the next. */
export type OwnerFile =
	| ({ type: "owned"; at: number; sessionId?: string } & ProcessIdentity)
	| { type: "released"; at: number };

/** A line of `events.jsonl`. */
export type EventLine = { at: number } & (ChildEvent | WrapperEvent);

/** What the wrapper says beside what the child does. */
export type WrapperEvent =
	/** pi runs as this process, which leads a group of its own. */
	| ({ type: "child_started" } & ProcessIdentity)
	/** Answered by `answer`, unless `question_over` comes first. */
	| ({ type: "question"; id: string } & Question)
	| { type: "question_over"; id: string }
	/** The child would go on. It waits for `pass`, as long as somebody watches. */
	| { type: "checkpoint"; id: string }
	/** From now on these limits count, also when nobody watches. */
	| { type: "granted"; limits: Limits }
	/** Something that a person should know: a line that was skipped, a file that could not be written. */
	| { type: "notice"; text: string };

/** A line of `control.jsonl`. */
export type ControlLine =
	| { type: "steer"; message: string }
	| { type: "wrap_up"; reason?: string }
	| { type: "abort"; stop: Stop }
	| { type: "answer"; id: string; answer: Answer }
	/** `limits`: more than the spec's were granted. `error`: the checkpoint itself failed, and nothing may pass it. */
	| { type: "pass"; id: string; word: "go" | "end"; limits?: Limits; error?: string };

/** `result.json`: written atomically, by the wrapper as the very last thing, or by a watcher that found the wrapper gone. */
export interface ResultFile {
	format: 1;
	runId: string;
	agentId: string;
	run: number;
	writtenBy: "wrapper" | "watcher" | "parent";
	outcome: Outcome;
	/** The answer, or what there was of one. */
	finalText?: string;
	stopReason?: string;
	resolvedModel?: string;
	startedAt: number;
	completedAt: number;
	turns: number;
	toolUses: number;
	usage: Usage;
	/** How pi itself ended, where that was seen. It says nothing about the outcome. */
	exitCode?: number;
	exitSignal?: string;
	/** What could not be kept, in words. */
	lost?: readonly string[];
}
