/** The port behind which children run, and the contract that every runner keeps. */
import type { AbortedBy, ChildEvent, Outcome, WorktreeReport } from "@pi-subagents/progress";
import type { RunnerName } from "./event.ts";

/**
 * Under this key a spec carries the conversation that its run begins with. A spec is kept as JSON in several places,
 * where something so large has no business; JSON leaves out what a symbol names.
 */
export const INHERITED = Symbol.for("@pi-subagents/core:inherited");

/** Everything a runner needs to know, resolved: it looks nothing up and decides nothing. */
export interface RunSpec {
	/** The name of the preset. */
	type: string;
	description: string;
	task: string;
	/** An absolute path of a directory. */
	cwd: string;
	runner: RunnerName;
	/** `provider/id` of an available model. */
	model: string;
	thinking?: ThinkingLevel;
	/** The complete list of tools. */
	tools: readonly string[];
	/** What the preset says to the model, after pi's own system prompt or instead of it. */
	systemPrompt?: { mode: "append" | "replace"; text: string };
	/** Which of the user's extensions the child loads: all, none, or those named. None when absent. */
	extensions?: boolean | readonly string[];
	excludeExtensions?: readonly string[];
	/** Which skills it knows: all, none, or those named. All when absent. */
	skills?: boolean | readonly string[];
	/** Which presets it may launch in turn; none when absent. */
	subagents?: "*" | readonly string[];
	/** The JSON Schema that the answer must match, and how often the agent may mend it. */
	output?: OutputSpec;
	/** `provider/id` of models to try in this order, when the provider fails before any tool ran. */
	fallbackModels?: readonly string[];
	/** It works in a checkout of its own, which begins with the last commit or with what lies in the directory. */
	isolation?: { kind: "worktree"; base: "head" | "dirty" };
	/** The only place where it may write files. Set when it has a checkout of its own, or is launched from within one. */
	confinedTo?: Confinement;
	/** It begins with the conversation of whoever launches it. */
	inheritsContext?: boolean;
	/** That conversation, as it was when the run was launched. */
	[INHERITED]?: readonly unknown[];
	/** Whose notes it reads and keeps over its runs. */
	memory?: MemoryScope;
	/** The directory of these notes. Absent where there are none and none can be kept. */
	memoryDir?: string;
	/** The run goes on when the session that launched it ends. Only for runners that can `detach`. */
	outlives?: boolean;
	/** The directory that holds a directory for each run's files. Without it none are kept. */
	runsDir?: string;
	/** The preset's file, and the model as it was asked for: for those who read the run's files. */
	presetSource?: string;
	requestedModel?: string;
	limits: Limits;
	/** For each resolved field: who decided it. */
	origins: Readonly<Partial<Record<ResolvedField, SpecOrigin>>>;
	/** What a person should know about how the request was understood. */
	warnings: readonly string[];
}

export interface OutputSpec {
	schema: Readonly<Record<string, unknown>>;
	/** How often it is asked again; 0 fails at once. */
	repairs: number;
}

export interface Confinement {
	/** The top of the checkout that it works in. */
	root: string;
	/** What that was made from, in the end: a directory of the user's. It is trusted as that one is. */
	origin: string;
	/** The checkout that this one was made from, and those above it: its commands must leave them as they are. */
	watches: readonly string[];
}

/** The project's notes, shared or only on this machine, or the user's own. */
export type MemoryScope = "project" | "local" | "user";

/** How far a run may go. An absent limit is none. */
export interface Limits {
	/** After so many turns it is asked to finish. */
	maxTurns?: number;
	/** How many more turns it then has. */
	graceTurns?: number;
	timeoutMs?: number;
	toolTimeoutMs?: number;
	idleTimeoutMs?: number;
	budgetTokens?: number;
	/** In US dollars. */
	budgetCost?: number;
}

export type ResolvedField = "model" | "thinking" | "tools" | "promptMode" | "runner" | "cwd" | keyof Limits;

/** The call beats the settings, they beat the preset, and it beats what the parent uses. */
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
	/** The directory of this run's files, where some are kept. */
	artifacts?: string;
}

/** A run's id: the agent's own, then `id-2` and so on. */
export function runIdOf({ agentId, run }: RunIdentity): string {
	return run === 1 ? agentId : `${agentId}-${run}`;
}

/** Hears what a child does. `at` is when, where that was not now. */
export type Emit = (event: ChildEvent, at?: number) => void;

/**
 * Asked between two turns, before the model is asked again: the place to wait for a provider that wants a pause or for
 * the user's word about a budget. Resolves with `end` to finish the run cleanly with what there is.
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
	/**
	 * Its runs keep the limits on their time themselves. Who watches one from another process must not judge by what it
	 * has heard: it may have been suspended, or still be reading. Absent: the manager keeps them.
	 */
	readonly keepsTime?: true;
	start(spec: RunSpec & RunIdentity, emit: Emit, checkpoint?: Checkpoint): Run;
	/**
	 * Rejoins a run that an earlier process started: everything it did is emitted again, from the beginning. One that
	 * has ended meanwhile settles as it did, one whose process is gone as aborted by `lost`. Absent: runs end with us.
	 */
	attach?(spec: RunSpec & RunIdentity & { artifacts: string }, emit: Emit, checkpoint?: Checkpoint): Run;
}

/** One execution of a task. */
export interface Run {
	readonly settled: Promise<Outcome>;
	/** Stops the child as soon as possible. No event follows. */
	abort(stop: Stop): void;
	steer(message: string): void;
	/** Asks the child to answer now with what it has: no more tools. */
	wrapUp(reason?: string): void;
	/**
	 * What whoever pays has granted beyond the spec's limits. Set by the manager; a run that may outlive us keeps it, and
	 * knows it again when it is rejoined.
	 */
	granted?: Limits | undefined;
	/** What is known of its own checkout as long as it runs: whoever stops it must tell of it before it is cleaned up. */
	readonly worktree?: WorktreeReport | undefined;
	/**
	 * Lets go of a child that lives on without us: nothing is emitted any more, and `settled` stays open. Resolves when
	 * nothing is left to do for it here.
	 */
	detach?(): Promise<void>;
}

/** Who stops a run, and why. */
export interface Stop {
	by: AbortedBy;
	reason?: string;
}
