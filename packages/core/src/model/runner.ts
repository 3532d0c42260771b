/** The port behind which children run, and the contract of every runner. */
import type { AbortedBy, ChildEvent, CutBy, Outcome, WorktreeReport } from "@pi-subagents/progress";
import type { PieceListener } from "./live-piece.ts";
import type { LaunchInfo } from "./schema/launch.ts";
import type { Limits, SpecFields } from "./schema/spec.ts";

/**
 * The key under which a spec carries the inherited conversation. Specs are stored as JSON in several places where
 * something so large does not belong, and JSON skips symbols.
 */
export const INHERITED = Symbol.for("@pi-subagents/core:inherited");

/** Everything a runner needs, resolved: it looks nothing up and decides nothing. */
export interface RunSpec extends SpecFields {
	/** The conversation at launch of the agent that it inherits it from. */
	[INHERITED]?: readonly unknown[];
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
	 * it may have been suspended, or still be reading. `elsewhere`: the same on a machine that might not obey, so the
	 * manager ends a run that is far beyond its limits (`backstopOf`). When absent, the manager enforces them.
	 */
	readonly keepsTime?: true | "elsewhere";
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
	/**
	 * What it may use in all if it continues without this process: the last one said counts. Absent if it never does, or
	 * limits nothing itself.
	 */
	limitAlone?(limits: Pick<Limits, "budgetTokens" | "budgetCost">): void;
	/** What is known of its checkout while it runs: a stop reports this before cleanup. */
	readonly worktree?: WorktreeReport | undefined;
	/** The measured duration, if the runner measured it. Known once settled. */
	readonly durationMs?: number | undefined;
	/**
	 * The child's last text with the part of the message it is writing, kept if it is stopped. Absent if only another
	 * process knows; then its last complete message is kept.
	 */
	readonly partial?: string | undefined;
	/**
	 * How long ago the child last gave a sign of life that is no event: a piece of text or thinking, or of what a tool
	 * prints. Undefined if there was none. Absent if that is not known here.
	 */
	readonly quietMs?: number | undefined;
	/** The child's conversation while it is open, if the child lives in this process. */
	readonly session?: ChildSession | undefined;
	/** The child is being started and can do nothing yet: its machine, for one, is not reached. Absent if that is no matter. */
	readonly isStarting?: boolean;
	/**
	 * Tells whether the machine that it runs on can be reached: now, and whenever that changes. An outage is no time that the
	 * run took. Absent if it can always be.
	 */
	onReach?(listener: (isReached: boolean) => void): void;
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
