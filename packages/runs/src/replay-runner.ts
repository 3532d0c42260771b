/** A runner that plays recorded runs again: for demos, and for tests of what shows agents. Needs no pi and no model. */

import type { Clock, Emit, Run, RunIdentity, Runner, RunSpec, Stop } from "@pi-subagents/core";
import { abortedOutcome } from "@pi-subagents/core";
import { CHILD_EVENT_TYPES, type ChildEvent, isOneOf, type Outcome } from "@pi-subagents/progress";
import type { EventLine } from "./format/lines.ts";

/** A run as its files describe it: `readEvents` and `readResult` of `runs`. */
export interface Recording {
	lines: readonly EventLine[];
	outcome: Outcome;
	/** When it settled. Right after the last event if absent. */
	completedAt?: number;
}

export interface ReplayOptions {
	clock: Pick<Clock, "after">;
	/** The recording for a run. Throws if there is none: the run fails with that message. */
	recordingOf: (spec: RunSpec & RunIdentity) => Recording;
	/** 2 plays twice as fast; 1 when absent, as recorded. */
	speed?: number;
}

/**
 * Emits recorded events at recorded distances, then settles as recorded. Steers change nothing; a stop ends it.
 *
 * @example
 * ```ts
 * const recording = { lines: await readEvents(dir), outcome: { status: "completed" as const, text: "Done." } };
 * const runner = replayRunner({ clock: systemClock, recordingOf: () => recording, speed: 4 });
 * const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId });
 * ```
 */
export function replayRunner({ clock, recordingOf, speed = 1 }: ReplayOptions): Runner {
	if (!(speed > 0)) throw new RangeError(`The speed of a replay must be above 0, not ${speed}.`);
	return { start: (spec, emit) => play(recordingOf(spec), emit, { clock, speed }) };
}

type Pace = Required<Pick<ReplayOptions, "clock" | "speed">>;

function play({ lines, outcome, completedAt }: Recording, emit: Emit, { clock, speed }: Pace): Run {
	const { promise: settled, resolve } = Promise.withResolvers<Outcome>();
	const origin = (lines.find(({ type }) => type === "agent_started") ?? lines.find(isChilds))?.at ?? 0;
	const events = lines.filter(isChilds);
	let said: string | undefined;
	let isOver = false;
	let at = origin;
	let cancel = (): void => undefined;
	const end = (how: Outcome) => {
		isOver = true;
		cancel();
		resolve(how);
	};
	/** One timer at a time, so that a stop leaves none behind. The time of day may have been set back in a recording. */
	const next = (index: number): void => {
		const line = events[index];
		const due = Math.max(at, line?.at ?? completedAt ?? at);
		const wait = (due - at) / speed;
		at = due;
		cancel = clock.after(wait, () => {
			if (isOver) return;
			if (!line) return end(outcome);
			if (line.type === "assistant_text" && line.text.trim() !== "") said = line.text;
			emit(eventOf(line));
			if (!isOver) next(index + 1);
		});
	};
	next(0);
	return {
		settled,
		abort: (stop: Stop) => {
			if (!isOver) end(abortedOutcome(stop, said));
		},
		steer: () => undefined,
		wrapUp: () => undefined,
	};
}

type ChildLine = EventLine & ChildEvent;

/** What a child does. Everything else in a log comes from its manager or its wrapper, and from ours in a replay. */
function isChilds(line: EventLine): line is ChildLine {
	return isOneOf(CHILD_EVENT_TYPES, line.type);
}

function eventOf({ at: _at, seq: _order, ...event }: ChildLine): ChildEvent {
	return event;
}
