/** What a case of the conformance suite is made of: a fixture, a started run, and the checks that every case ends with. */
import { deepStrictEqual } from "node:assert/strict";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import type { Checkpoint, Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";

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
	/** Its model fails in a way that is tried again, but not for a long time. */
	| { does: "retry" }
	/** It answers, and then shortens its context, which never ends. */
	| { does: "compact"; text: string };

export interface RunnerFixture {
	runner: Runner;
	spec: RunSpec & RunIdentity;
	/** Resolves when the child's model has been asked so often; once, when absent. */
	asked(times?: number): Promise<void>;
	/** Lets a child that works go on. */
	release(): void;
	/** How often the child's model was asked. */
	requests(): number;
	/** Everything the child's model was told by its parent: the task, then the steers and the wish to wrap up. */
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
	/** What was emitted so far. Each case ends with a check that nothing came after the run had settled. */
	events: ChildEvent[];
	on(type: ChildEvent["type"], listener: () => void): void;
	/** Resolves when such an event has been emitted. */
	saw(type: ChildEvent["type"]): Promise<void>;
	/** What the run's checkpoint does from now on. Resolves when it is asked. */
	atCheckpoint(answer: Checkpoint): Promise<void>;
	/**
	 * Stops the run and checks that this was the end of it: no event and no request follows. A case that calls it waits
	 * until no request is on its way: nobody could call back one of a child in another process.
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
