/** The port behind which children run, and the contract of every runner. */
import type { AbortedBy, ChildEvent, CutBy, Outcome, WorktreeReport } from "@pi-subagents/progress";
import type { AgentIdentity, GivenByCall, RunnerName } from "./event.ts";
import type { PieceListener } from "./live-piece.ts";

/**
 * The key under which a spec carries the inherited conversation. Specs are stored as JSON in several places where
 * something so large does not belong, and JSON skips symbols.
 */
export const INHERITED = Symbol.for("@pi-subagents/core:inherited");

/** Everything a runner needs, resolved: it looks nothing up and decides nothing. */
export interface RunSpec {
	/** The name of the preset. */
	type: string;
	description: string;
	task: string;
	/** Absolute. */
	cwd: string;
	runner: RunnerName;
	/** The name of the machine that it runs on, for runner `remote`. */
	machine?: string;
	/** It is run again, once and from the start, if its machine loses it. Only for runner `remote`. */
	retry?: "lost";
	/** The name of the program, from the user's settings, that the child and its checks run inside. */
	launcher?: string;
	/** `provider/id` of an available model. */
	model: string;
	thinking?: ThinkingLevel;
	/** The tools that it may use, besides ours: see `allTools`. */
	tools: readonly string[];
	/** Those of our own tools that it does not get. */
	withheld?: readonly string[];
	/** The MCP servers that it connects; their tools are among `tools`. None when absent. */
	mcp?: McpSpec;
	/** The preset's prompt, after pi's own system prompt or instead of it. */
	systemPrompt?: { mode: "append" | "replace"; text: string };
	/** Which of the user's extensions the child loads: all, none, or those named. None when absent. */
	extensions?: boolean | readonly string[];
	excludeExtensions?: readonly string[];
	/** Which skills it has: all, none, or those named. All when absent. */
	skills?: boolean | readonly string[];
	/** Which presets it may launch; none when absent. */
	subagents?: "*" | readonly string[];
	/** The JSON Schema of the answer, and how often the agent may correct it. */
	output?: OutputSpec;
	/** The command that checks its work before the run ends, or why none does. */
	verify?: VerifySpec | NotVerified;
	/** `provider/id` of models to try, in order, if the provider fails before any tool ran. */
	fallbackModels?: readonly string[];
	/** It works in its own checkout, made from the last commit or from the working tree. */
	isolation?: { kind: "worktree"; base: "head" | "dirty"; setup?: WorktreeSetup };
	/** The only directory where it may write files. Set if it has its own checkout, or is launched from within one. */
	confinedTo?: Confinement;
	/** It starts with the launching agent's conversation. */
	inheritsContext?: boolean;
	/** That conversation at launch. */
	[INHERITED]?: readonly unknown[];
	/** Its earlier conversation is compacted before the task; a failed compaction does not stop the run. */
	compactsFirst?: true;
	/** Which notes it reads and keeps across its runs. */
	memory?: MemoryScope;
	/** The directory of these notes. Absent if there are none and none can be kept. */
	memoryDir?: string;
	/** The run continues when the launching session ends. Only for runners that can `detach`. */
	outlives?: boolean;
	/** The parent directory of all runs' files. When absent, none are kept. */
	runsDir?: string;
	/** The preset's file, and the model as requested: for readers of the run's files. */
	presetSource?: string;
	requestedModel?: string;
	limits: Limits;
	/** What the call said that no preset or setting repeats: the agent's next run needs it again. */
	given?: GivenByCall;
	/** Who decided each resolved field. */
	origins: Readonly<Partial<Record<ResolvedField, SpecOrigin>>>;
	/** How the request was interpreted, where that is not obvious. */
	warnings: readonly string[];
}

export interface McpSpec {
	/** Their names, with `_` for `-`. */
	servers: readonly string[];
	/** Tools that it must not have, where `tools` has a pattern for all tools of a server. */
	denied?: readonly string[];
	/** What is missing does not fail the run: the preset was written for another program. */
	isOptional?: true;
}

export interface OutputSpec {
	schema: Readonly<Record<string, unknown>>;
	/** How many corrections are allowed; 0 fails immediately. */
	repairs: number;
}

/** A command that must succeed in the agent's directory after its answer. */
export interface VerifySpec {
	/** Text for the user's shell, or a program with its arguments. */
	command: string | readonly string[];
	/** Absent: no limit. */
	timeoutMs?: number;
	/** What it prints is JSON, and becomes the run's structured result. */
	output?: "json";
	/** What that JSON must match. */
	schema?: OutputSpec["schema"];
	/** How often the agent is asked to fix its work; 0 fails immediately. */
	repairs: number;
}

/** Where a new checkout is, and what makes it ready to work in. Other paths are relative to its root. */
export interface WorktreeSetup {
	/** Where the checkout is made: relative to the repository, absolute, or in the home directory (`~/…`). */
	dir?: string;
	/** Directories and files of the user's checkout that it shares. */
	link?: readonly string[];
	/** Patterns of ignored files that are copied, as in `.gitignore`. */
	include?: readonly string[];
	/** Whether the patterns in the checkout's `.worktreeinclude` count, too. */
	readsIncludeFile?: boolean;
	/** A command that must succeed before the agent starts: text for the user's shell, or a program with its arguments. */
	setup?: string | readonly string[];
	/** Absent: no limit. */
	setupTimeoutMs?: number;
}

interface NotVerified {
	/** Why the preset's command does not run. */
	skipped: string;
}

export interface Confinement {
	/** The root of its checkout. */
	root: string;
	/** The directory of the checkout's record, if that is not beside it. */
	records?: string;
	/** The user's directory it was originally made from. It is trusted as that one is. */
	origin: string;
	/** The checkout it was made from, and those above: its commands must not change them. */
	watches: readonly string[];
}

/** The project's notes, shared or only on this machine, or the user's own. */
export type MemoryScope = "project" | "local" | "user";

/** Limits of a run. An absent one is no limit. */
export interface Limits {
	/** After this many turns it is asked to finish. */
	maxTurns?: number;
	/** How many turns it then has left. */
	graceTurns?: number;
	timeoutMs?: number;
	toolTimeoutMs?: number;
	idleTimeoutMs?: number;
	budgetTokens?: number;
	/** In US dollars. */
	budgetCost?: number;
	/** What percentage of time, turns or budget is kept for the answer: it is asked to finish that long before its end. */
	wrapUpPercent?: number;
	/** After this long without a sign of life it is shown as stalled. Nothing else happens. */
	stalledAfterMs?: number;
}

export type ResolvedField =
	| "model"
	| "thinking"
	| "tools"
	| "promptMode"
	| "runner"
	| "machine"
	| "retry"
	| "launcher"
	| "cwd"
	| keyof Limits;

/** Precedence: the call, settings for the preset, the preset, defaults for all agents, the parent. */
export type SpecOrigin = "call" | "settings" | "preset" | "parent" | "default";

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

export function isThinkingLevel(value: unknown): value is ThinkingLevel {
	return THINKING_LEVELS.some((level) => level === value);
}

/** Which run of which agent this is. */
export interface RunIdentity {
	agentId: string;
	/** Counts from 1. */
	run: number;
	/** The directory of this run's files, if any are kept. */
	artifacts?: string;
	/** Who launched it and when: for readers of its files. Absent for a rejoined run, whose files say so. */
	launchInfo?: LaunchInfo & { queuedAt: number };
}

/** What a launch says about an agent besides its spec. */
export type LaunchInfo = Pick<
	AgentIdentity,
	"name" | "parentAgentId" | "depth" | "isBackground" | "launchedBy" | "phase" | "callId"
>;

/** A run's id: the agent's own, then `id-2` and so on. */
export function runIdOf({ agentId, run }: RunIdentity): string {
	return run === 1 ? agentId : `${agentId}-${run}`;
}

/** Called for each child event. `at` is when it happened, if not now. */
export type Emit = (event: ChildEvent, at?: number) => void;

/**
 * Called between two turns, before the model is asked again: waits for a paused provider or a decision about a
 * budget. Resolves with `end` to finish the run cleanly.
 */
export type Checkpoint = () => Promise<"go" | "end">;

/**
 * Starts children. Every runner passes `runnerConformance` of `@pi-subagents/core/testing`:
 * - `start` throws only before the first event, and only for a spec that can never run;
 * - `settled` resolves once and never rejects: failure is an `Outcome`;
 * - nothing is emitted after it, and nothing the child used is left behind;
 * - `abort` may come in every phase and any number of times;
 * - a steer or a wish to wrap up that comes before the child can hear it is delivered when it can.
 */
export interface Runner {
	/** Its runs only wait for others, so they neither take a slot nor queue. */
	readonly takesNoSlot?: true;
	/**
	 * Its runs enforce their time limits themselves. A watcher in another process must not judge by what it has seen:
	 * it may have been suspended, or still be reading. When absent, the manager enforces them.
	 */
	readonly keepsTime?: true;
	start(spec: RunSpec & RunIdentity, emit: Emit, checkpoint?: Checkpoint): Run;
	/**
	 * Rejoins a run that an earlier process started: everything it did is emitted again from the start. A run that has
	 * ended settles as it did; if its process is gone, as aborted by `lost`. Absent if runs end with us.
	 */
	attach?(spec: RunSpec & RunIdentity & { artifacts: string }, emit: Emit, checkpoint?: Checkpoint): Run;
}

/** One execution of a task. */
export interface Run {
	readonly settled: Promise<Outcome>;
	/** Stops the child as soon as possible. No event follows. */
	abort(stop: Stop): void;
	/**
	 * Called after `abort` when this process is about to end: what does not obey must be ended within two seconds. Absent if
	 * nothing of the child outlives this process.
	 */
	hurry?(): void;
	steer(message: string): void;
	/** Asks the child to answer now with what it has: no more tools. `by` is the limit that it is close to, if one is. */
	wrapUp(reason?: string, by?: CutBy): void;
	/**
	 * What was granted beyond the spec's limits. Set by the manager; a detached run stores it and restores it when
	 * rejoined.
	 */
	granted?: Limits | undefined;
	/** What is known of its checkout while it runs: a stop reports this before cleanup. */
	readonly worktree?: WorktreeReport | undefined;
	/** The measured duration, if the runner measured it. Known once settled. */
	readonly durationMs?: number | undefined;
	/**
	 * The child's last text with the part of the message it is writing, kept if it is stopped. Absent if only another
	 * process knows; then its last complete message is kept.
	 */
	readonly partial?: string | undefined;
	/** The child's conversation while it is open, if the child lives in this process. */
	readonly session?: ChildSession | undefined;
	/** The child is being started and can do nothing yet: its machine, for one, is not reached. Absent if that is no matter. */
	readonly isStarting?: boolean;
	/** Tells what the child is writing until the returned function is called. Absent if that is not known here. */
	watch?(listener: PieceListener): () => void;
	/**
	 * Called once it has settled, if its spec has `retry`. Resolves with true if the runner may start it again: nothing of
	 * it is alive, and its files are out of the way. Absent if it never may.
	 */
	startOver?(outcome: Outcome): Promise<boolean>;
	/**
	 * Detaches from a child that continues without us: nothing is emitted any more, and `settled` stays pending.
	 * Resolves when nothing is left to do here.
	 */
	detach?(): Promise<void>;
}

/** The conversation of a child in this process, for observers: they cannot harm the run, whatever they do. */
export interface ChildSession {
	readonly sessionId: string;
	/** What was said so far, as pi's own messages. */
	readonly messages: readonly unknown[];
	/** Calls the listener with pi's own events, until the returned function is called. */
	subscribe(listener: (event: unknown) => unknown): () => void;
}

/** Who stops a run, and why. */
export interface Stop {
	by: AbortedBy;
	reason?: string;
}
