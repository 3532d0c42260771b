/** Time that moves only when a test says so, and waits for the work that a timer starts. */
import type { Clock } from "../../src/index.ts";

export interface HandClock extends Clock {
	/** Moves time on, timer by timer. */
	pass: (ms: number) => Promise<void>;
	/** Lets time jump, in either direction, as a sleeping machine or a clock that is set: timers know nothing of it. */
	jump: (ms: number) => void;
	/** How long the timers that wait will still wait. */
	waits: () => number[];
}

export const START = Date.UTC(2027, 0, 1, 12);

export function handClock(start = START): HandClock {
	let time = start;
	/** What timers go by. */
	let steady = 0;
	const timers = new Set<{ at: number; work: () => void }>();
	return {
		now: () => time,
		after(ms, work) {
			const timer = { at: steady + ms, work };
			timers.add(timer);
			return () => timers.delete(timer);
		},
		async pass(ms) {
			const end = steady + ms;
			await settle();
			for (;;) {
				const [first] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
				const to = Math.max(steady, first?.at ?? end);
				time += to - steady;
				steady = to;
				if (!first) return;
				timers.delete(first);
				first.work();
				await settle();
			}
		},
		jump(ms) {
			time += ms;
		},
		waits: () => [...timers].map(({ at }) => at - steady),
	};
}

/** Everything that a store in memory does is done by then. */
export async function settle(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}
