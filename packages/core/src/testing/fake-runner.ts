/** A runner whose children are puppets: a test decides what each says and how it ends. */
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import { abortedOutcome } from "../outcome.ts";
import type { Checkpoint, Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";

export interface FakeRunner extends Runner {
	/** Every run started so far, oldest first. */
	readonly runs: readonly FakeRun[];
}

/** A run in the hands of a test. */
export interface FakeRun extends Run {
	readonly spec: RunSpec & RunIdentity;
	readonly steers: readonly string[];
	readonly stops: readonly Stop[];
	/** The reasons of all wishes to wrap up, undefined for one without. */
	readonly wrapUps: readonly (string | undefined)[];
	/** What the runner was given to ask between two turns; the test asks, as nothing here takes turns. */
	readonly checkpoint?: Checkpoint;
	emit(event: ChildEvent): void;
	/** Says `text` as the last message, then settles as completed: wrapped up, if that was wished for before. */
	answer(text: string): void;
	settle(outcome: Outcome): void;
}

/**
 * @example
 * ```ts
 * const runner = fakeRunner();
 * const manager = new Manager({ runners: { session: runner }, now: clock.now, newId });
 * const { id } = manager.spawn(spec);
 * runner.runs[0]?.answer("done");
 * ```
 */
export function fakeRunner(onStart?: (run: FakeRun) => void): FakeRunner {
	const runs: FakeRun[] = [];
	return {
		runs,
		start(spec, emit, checkpoint) {
			const run: FakeRun = { ...fakeRun(spec, emit), ...(checkpoint ? { checkpoint } : {}) };
			runs.push(run);
			onStart?.(run);
			return run;
		},
	};
}

function fakeRun(spec: RunSpec & RunIdentity, emit: (event: ChildEvent) => void): FakeRun {
	const { promise: settled, resolve } = Promise.withResolvers<Outcome>();
	const steers: string[] = [];
	const stops: Stop[] = [];
	const wrapUps: (string | undefined)[] = [];
	let isOver = false;
	let said: string | undefined;
	const settle = (outcome: Outcome) => {
		isOver = true;
		resolve(outcome);
	};
	const say = (event: ChildEvent) => {
		if (isOver) return;
		if (event.type === "assistant_text") said = event.text;
		emit(event);
	};
	return {
		spec,
		settled,
		steers,
		stops,
		wrapUps,
		settle,
		emit: say,
		answer(text) {
			say({ type: "assistant_text", text, stopReason: "stop" });
			say({ type: "idle" });
			settle({ status: "completed", text, ...(wrapUps.length > 0 ? { wrappedUp: true } : {}) });
		},
		abort(stop) {
			stops.push(stop);
			settle(abortedOutcome(stop, said));
		},
		steer: (message) => void steers.push(message),
		wrapUp: (reason) => void wrapUps.push(reason),
	};
}
