/**
 * The files of a run's directory and what they say to each other: the contract between the wrapper, which writes most
 * of them, and a run's watchers, now or after a restart. Types and names.
 *
 * `events.jsonl` goes from the wrapper to the watcher, `control.jsonl` the other way; both only grow, one JSON object
 * per line. A last line without LF is not written yet, and an unknown `type` comes from a newer version.
 * `live.jsonl` exists only while an owner watches what the child writes: it starts over when it gets long, and losing
 * it loses nothing.
 * `wrapper.json` and `result.json` are each created once, atomically, and never changed. `wrapper.json` is for people
 * and programs that look from outside: which processes run and watch a run is decided by the records in pi's own
 * directory (`signals/run-processes.ts`), where `owner-<n>.json` are, too.
 */
import { basename, dirname, join } from "node:path";
import type { ChildEvent, CutBy, Outcome, Usage } from "@pi-subagents/progress";
import type { DialogAnswer, ExtensionNotice } from "../../model/dialog.ts";
import type {
	AgentAnswered,
	AgentAsked,
	AgentQueued,
	AgentStarted,
	AgentSteered,
	MovedToBackground,
} from "../../model/event.ts";
import type { LivePiece } from "../../model/live-piece.ts";
import type { Answer, Question } from "../../model/question.ts";
import type { Limits, RunSpec, Stop } from "../../model/runner.ts";
import type { ProcessIdentity } from "../../signals/identity.ts";

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

/** Written before anything starts: what the run is, for people and for the wrapper. */
export interface Meta {
	format: 1;
	createdBy: "pi-subagents";
	runId: string;
	agentId: string;
	run: number;
	/** Whole milliseconds since the epoch, as every time in these files. */
	createdAt: number;
	/** When it was launched: before `createdAt` if it then waited for a slot. Absent in older files, as all up to `isBackground`. */
	queuedAt?: number;
	/** Who asked for it. */
	launchedBy?: RunLauncher;
	/** 1 for an agent that the session launched. */
	depth?: number;
	/** Its memorable handle. */
	name?: string;
	/** The phase of the workflow that launched it. */
	phase?: string;
	/** Whether the launching call did not wait for it. */
	isBackground?: boolean;
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
	/** The machine that it runs on, by its name in the user's settings. Absent: this one. */
	machine?: string;
	/** The program that it runs inside, by its name in the user's settings. Absent: none. */
	launcher?: string;
	/** The resolved spec, so that the run can be rejoined with its limits. */
	spec: RunSpec;
	/** Absent for a run inside the parent's process. */
	launch?: PiLaunch;
	/** The process that it runs in, if it has none of its own. Absent in older files. */
	holder?: ProcessIdentity;
}

/** Who asked for a run: one of `LAUNCHERS`, or what a newer version knows. */
export interface RunLauncher {
	who: string;
	/** The agent whose model asked. Absent if the session's did, or the user. */
	agentId?: string;
	/** The tool call of that model. */
	callId?: string;
}

/** How the wrapper starts pi. Arguments are passed as they are, without a shell. */
export interface PiLaunch {
	command: string;
	args: readonly string[];
	/** The program that pi and the run's checks are started inside, with its arguments. Absent: none. */
	around?: readonly string[];
	/** Added to the wrapper's own environment. */
	env: Readonly<Record<string, string>>;
	/** Whether the wrapper prints progress on its terminal. */
	showsProgress: boolean;
}

/** `owner-<n>.json`: who watches the run. The highest n counts; taking over means creating the next. */
export type OwnerFile =
	| ({ type: "owned"; at: number; sessionId?: string } & ProcessIdentity)
	| { type: "released"; at: number };

/** A line of `events.jsonl`. `seq` grows from line to line, not always by one; older files have none. */
export type EventLine = { at: number; seq?: number } & (ChildEvent | WrapperEvent | LifeCycleLine);

/** What the manager, or the wrapper for it, decided. The identity and the outcome are in the other files. */
export type LifeCycleLine =
	| Omit<AgentQueued, "agent">
	| AgentStarted
	| AgentSteered
	| AgentAsked
	/** `id`: the question's, if the wrapper says it. */
	| (AgentAnswered & { id?: string })
	| MovedToBackground
	| { type: "agent_settled"; status: Outcome["status"] };

/** Whether it is about the run rather than from the child. */
export function isLifeCycleLine(line: EventLine): line is EventLine & LifeCycleLine {
	return line.type.startsWith("agent_") || line.type === "moved_to_background";
}

/** What the wrapper reports besides the child's events. */
export type WrapperEvent =
	/** pi's process, which leads its own group. */
	| ({ type: "child_started" } & ProcessIdentity)
	/**
	 * Answered by `answer`, unless `question_over` comes first. With `dialog`, an extension asks and not the agent: only the
	 * user may answer, with `dialog`, and `question` is its title.
	 */
	| ({ type: "question"; id: string; dialog?: unknown } & Question)
	| { type: "question_over"; id: string }
	/** The child would continue. It waits for `pass` as long as a watcher exists. */
	| { type: "checkpoint"; id: string }
	/** From now on these limits apply, even without a watcher. */
	| { type: "granted"; limits: Limits }
	/** For people: a skipped line, a file that could not be written. With `level`, an extension in the child says it. */
	| { type: "notice"; text: string; level?: ExtensionNotice["level"] };

/** A line of `live.jsonl`. */
export interface LiveLine extends LivePiece {
	/** The id of the `watch` that asked for it; others are left over from an earlier one. */
	for: string;
}

/** A line of `control.jsonl`. */
export type ControlLine =
	/** The owner wants `live.jsonl` from now on; without an id, no longer. */
	| { type: "watch"; id?: string }
	| { type: "steer"; message: string }
	| { type: "wrap_up"; reason?: string; by?: CutBy }
	| { type: "abort"; stop: Stop }
	| { type: "answer"; id: string; answer: Answer }
	/** The user's answer to a dialog; without one it was dismissed. */
	| { type: "dialog"; id: string; answer?: DialogAnswer }
	/** `limits`: more was granted than the spec's. `error`: the checkpoint itself failed, and nothing may pass. */
	| { type: "pass"; id: string; word: "go" | "end"; limits?: Limits; error?: string };

/** `result.json`: written atomically, last of all by the wrapper, or by a watcher that found the wrapper gone. */
export interface ResultFile {
	format: 1;
	runId: string;
	agentId: string;
	run: number;
	writtenBy: "wrapper" | "watcher" | "parent";
	outcome: Outcome;
	/** The answer, or the part there was. */
	finalText?: string;
	stopReason?: string;
	resolvedModel?: string;
	startedAt: number;
	/** Never before `startedAt`. */
	completedAt: number;
	/** In whole milliseconds, by the steady clock if one process saw all of it. Absent in older files. */
	durationMs?: number;
	turns: number;
	toolUses: number;
	usage: Usage;
	/** How pi's process ended, if that was seen. It does not determine the outcome. */
	exitCode?: number;
	exitSignal?: string;
	/** What could not be written. */
	lost?: readonly string[];
}
