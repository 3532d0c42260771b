/** Time as an argument: the real one in pi, one that a test moves by hand elsewhere. */

export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** The same, but going on evenly when the time of day is set: for how long something takes. `now` when absent. */
	steady?: () => number;
	/** Runs `work` later and returns the way to prevent it. */
	after: (ms: number, work: () => void) => () => void;
	/** Keeps the process alive until the returned function is called. Where there is no such need, it may be absent. */
	hold?: () => () => void;
}

/** A timer of 2^31 milliseconds or more would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own. Its timers do not keep the process alive; `hold` does. */
export const systemClock: Clock = {
	now: Date.now,
	steady: () => performance.timeOrigin + performance.now(),
	after(ms, work) {
		const timer = setTimeout(work, Math.min(ms, LONGEST_TIMER_MS));
		timer.unref();
		return () => clearTimeout(timer);
	},
	hold() {
		const timer = setInterval(() => undefined, LONGEST_TIMER_MS);
		return () => clearInterval(timer);
	},
};

/** For whoever waits: somebody who sets the time of day neither lets nor keeps them waiting. */
export function steadyClock(clock: Clock): Clock {
	return { ...clock, now: clock.steady ?? clock.now };
}
