/** Time that moves only when a test says so. */
import type { Clock } from "../clock.ts";

export interface HandClock extends Clock {
	/** Moves time on and runs what is due, in order, each at its own moment. */
	advance: (ms: number) => void;
	/** Lets time pass while the timers are late, as under load. */
	lag: (ms: number) => void;
	/** Sets the time of day that much forward, or back: what waits is not due any earlier or later. */
	set: (ms: number) => void;
	/** How many timers wait. */
	waiting: () => number;
}

export function handClock(start = 0): HandClock {
	let time = start;
	let ahead = 0;
	const timers = new Set<{ at: number; work: () => void }>();
	const earliest = (until: number) =>
		[...timers]
			.filter(({ at }) => at <= until)
			.reduce<{ at: number; work: () => void } | undefined>(
				(first, next) => (first && first.at <= next.at ? first : next),
				undefined,
			);
	return {
		now: () => time + ahead,
		steady: () => time,
		after(ms, work) {
			const timer = { at: time + ms, work };
			timers.add(timer);
			return () => timers.delete(timer);
		},
		advance(ms) {
			const until = time + ms;
			for (let due = earliest(until); due; due = earliest(until)) {
				timers.delete(due);
				time = Math.max(time, due.at);
				due.work();
			}
			time = until;
		},
		lag: (ms) => {
			time += ms;
		},
		set: (ms) => {
			ahead += ms;
		},
		waiting: () => timers.size,
	};
}
