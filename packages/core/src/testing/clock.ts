/** A clock that moves only when a test says so. */
import type { Clock } from "../base/clock.ts";

export interface HandClock extends Clock {
	/** Advances time and runs due timers in order, each at its own time. */
	advance: (ms: number) => void;
	/** Lets time pass without running timers, as under load. */
	lag: (ms: number) => void;
	/** Shifts the time of day; timers are not due earlier or later. */
	set: (ms: number) => void;
	/** The number of pending timers. */
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
