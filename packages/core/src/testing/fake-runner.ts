/** A runner without children: a test decides what each says and how it ends. */
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import { defined } from "../base/values.ts";
import type { LivePiece, PieceListener } from "../model/live-piece.ts";
import { abortedOutcome } from "../model/outcome.ts";
import type { Checkpoint, ChildSession, Emit, Run, RunIdentity, Runner, RunSpec, Stop } from "../model/runner.ts";
import type { Limits } from "../model/schema/spec.ts";

export interface FakeRunner extends Required<Omit<Runner, "keepsTime" | "takesNoSlot">> {
	/** Every run started or rejoined so far, oldest first. */
	readonly runs: readonly FakeRun[];
}

/** A run controlled by a test. */
export interface FakeRun
	extends Required<
			Omit<Run, "granted" | "worktree" | "partial" | "durationMs" | "session" | "quietMs" | "isStarting" | "onReach">
		>,
		Pick<Run, "granted"> {
	/** The part of the message it is writing, if the test sets it. */
	partial?: string | undefined;
	/** How long ago it last wrote something, if the test sets it. */
	quietMs?: number | undefined;
	/** Its conversation, if the test gives it one. */
	session?: ChildSession | undefined;
	readonly spec: RunSpec & RunIdentity;
	/** Whether it was rejoined instead of started. */
	readonly isAttached: boolean;
	readonly isDetached: () => boolean;
	readonly steers: readonly string[];
	readonly stops: readonly Stop[];
	/** The reasons of all wrap-up requests; undefined for one without. */
	readonly wrapUps: readonly (string | undefined)[];
	/** What it was told that it may use in all without this process, in order. */
	readonly alone: readonly Limits[];
	/** The checkpoint given to the runner; the test calls it, as nothing here takes turns. */
	readonly checkpoint?: Checkpoint;
	emit(event: ChildEvent, at?: number): void;
	/** Tells those who watch it a piece of what it writes. */
	write(piece: LivePiece): void;
	/** Says `text` as the last message, then settles as completed; wrapped up, if that was requested before. */
	answer(text: string): void;
	settle(outcome: Outcome): void;
}

/** A spec for tests that do not care what is in it. */
export const sampleSpec: RunSpec = {
	type: "scout",
	description: "look around",
	task: "Look around.",
	cwd: "/project",
	runner: "session",
	model: "fake/one",
	tools: [],
	limits: {},
	origins: {},
	warnings: [],
};

/**
 * @example
 * ```ts
 * const runner = fakeRunner();
 * const manager = new Manager({ runners: { session: runner }, clock: handClock(), newId });
 * const { id } = manager.spawn(sampleSpec);
 * runner.runs[0]?.answer("done");
 * ```
 */
export function fakeRunner(onStart?: (run: FakeRun) => void): FakeRunner {
	const runs: FakeRun[] = [];
	const begin = (run: FakeRun): FakeRun => {
		runs.push(run);
		onStart?.(run);
		return run;
	};
	return {
		runs,
		start: (spec, emit, checkpoint) => begin(fakeRun({ spec, emit, checkpoint, isAttached: false })),
		attach: (spec, emit, checkpoint) => begin(fakeRun({ spec, emit, checkpoint, isAttached: true })),
	};
}

interface FakeRunOptions {
	spec: RunSpec & RunIdentity;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
	isAttached: boolean;
}

function fakeRun({ spec, emit, checkpoint, isAttached }: FakeRunOptions): FakeRun {
	const { promise: settled, resolve } = Promise.withResolvers<Outcome>();
	const watchers = new Set<PieceListener>();
	const steers: string[] = [];
	const stops: Stop[] = [];
	const wrapUps: (string | undefined)[] = [];
	const alone: Limits[] = [];
	let isOver = false;
	let isDetached = false;
	let said: string | undefined;
	const settle = (outcome: Outcome) => {
		if (isDetached) return;
		isOver = true;
		resolve(outcome);
	};
	const say = (event: ChildEvent, at?: number) => {
		if (isOver || isDetached) return;
		if (event.type === "assistant_text") said = event.text;
		emit(event, at);
	};
	return {
		spec,
		isAttached,
		isDetached: () => isDetached,
		...defined({ checkpoint }),
		settled,
		steers,
		stops,
		wrapUps,
		alone,
		settle,
		emit: say,
		write(piece) {
			if (!isOver && !isDetached) for (const listener of watchers) listener(piece);
		},
		watch(listener) {
			watchers.add(listener);
			return () => watchers.delete(listener);
		},
		answer(text) {
			say({ type: "assistant_text", text, stopReason: "stop" });
			say({ type: "idle" });
			settle({ status: "completed", text, ...(wrapUps.length > 0 ? { wrappedUp: true } : {}) });
		},
		abort(stop) {
			stops.push(stop);
			settle(abortedOutcome(stop, this.partial ?? said));
		},
		hurry: () => undefined, // it has settled
		steer: (message) => void steers.push(message),
		wrapUp: (reason) => void wrapUps.push(reason),
		limitAlone: (limits) => void alone.push(limits),
		startOver: async () => false,
		async detach() {
			isDetached = true;
		},
	};
}
