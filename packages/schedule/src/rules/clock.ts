/** Time as an argument: the system clock, or one that a test controls. */

export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** Runs `work` later. Returns a function that cancels it. */
	after: (ms: number, work: () => void) => () => void;
}

/** The system clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
	now: Date.now,
	after(ms, work) {
		const timer = setTimeout(work, ms);
		timer.unref();
		return () => clearTimeout(timer);
	},
};
