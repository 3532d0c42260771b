/** The parts of a conformance case: a fixture, a started run, and the checks that every case ends with. */
import { deepStrictEqual } from "node:assert/strict";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import type { Checkpoint, Run, RunIdentity, Runner, RunSpec, Stop } from "../model/runner.ts";

/** How the child of a fixture behaves. */
export type ChildScript =
	/** Waits for `release`, uses one tool, then says `text` and ends. */
	| { does: "work"; text: string }
	/** Its model fails with this message. */
	| { does: "fail"; error: string }
	/** Its model never answers. */
	| { does: "hang" }
	/** Says `text` and calls a tool that does not end by itself. */
	| { does: "use_tool"; text: string }
	/** Its model fails in a retryable way, with a long delay. */
	| { does: "retry" }
	/** It answers, then compacts its context, which never ends. */
	| { does: "compact"; text: string };

export interface RunnerFixture {
	runner: Runner;
	spec: RunSpec & RunIdentity;
	/** Resolves when the child's model was asked this many times; default once. */
	asked(times?: number): Promise<void>;
	/** Lets a working child continue. */
	release(): void;
	/** How many times the child's model was asked. */
	requests(): number;
	/** All messages to the child's model: the task, then steers and wrap-up requests. */
	heard(): string[];
	cleanup(): Promise<void>;
}

export type CreateFixture = (script: ChildScript) => Promise<RunnerFixture>;

export interface ConformanceCase {
	name: string;
	run(create: CreateFixture): Promise<void>;
}

/** A run under test. */
export interface Started {
	fixture: RunnerFixture;
	run: Run;
	/** Events so far. Each case ends with a check that nothing came after the run had settled. */
	events: ChildEvent[];
	on(type: ChildEvent["type"], listener: () => void): void;
	/** Resolves when such an event has been emitted. */
	saw(type: ChildEvent["type"]): Promise<void>;
	/** Sets the run's checkpoint. Resolves when it is called. */
	atCheckpoint(answer: Checkpoint): Promise<void>;
	/**
	 * Stops the run and checks that no event and no request follows. Call it only when no request is in flight: one of
	 * a child in another process cannot be recalled.
	 */
	stop(stop: Stop, partialText?: string): Promise<void>;
}

export function conform(
	name: string,
	script: ChildScript,
	check: (started: Started) => Promise<void>,
): ConformanceCase {
	return {
		name,
		async run(create) {
			const fixture = await create(script);
			const late: ChildEvent[] = [];
			try {
				const started = start(fixture, late);
				await check(started);
				started.run.abort({ by: "shutdown" });
				await started.run.settled;
			} finally {
				await fixture.cleanup();
			}
			deepStrictEqual(late, [], "nothing is emitted after the run has settled");
		},
	};
}

function start(fixture: RunnerFixture, late: ChildEvent[]): Started {
	const events: ChildEvent[] = [];
	const listeners: { type: ChildEvent["type"]; listener: () => void }[] = [];
	let outcome: Outcome | undefined;
	let checkpoint: Checkpoint = async () => "go";
	const hear = (event: ChildEvent) => {
		(outcome ? late : events).push(event);
		for (const { type, listener } of listeners) if (type === event.type) listener();
	};
	const run = fixture.runner.start(fixture.spec, hear, () => checkpoint());
	void run.settled.then((settled) => {
		outcome = settled;
	});
	const on: Started["on"] = (type, listener) => void listeners.push({ type, listener });
	return {
		fixture,
		run,
		events,
		on,
		saw: (type) =>
			new Promise((resolve) => (events.some((event) => event.type === type) ? resolve() : on(type, resolve))),
		atCheckpoint: (answer) =>
			new Promise((resolve) => {
				checkpoint = () => {
					resolve();
					return answer();
				};
			}),
		async stop(stop, partialText) {
			const before = [events.length, fixture.requests()];
			run.abort(stop);
			const partial = partialText === undefined ? {} : { partialText };
			deepStrictEqual(await run.settled, { status: "aborted", ...stop, ...partial });
			deepStrictEqual([events.length, fixture.requests()], before, "no event and no request follows a stop");
		},
	};
}
