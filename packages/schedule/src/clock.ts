/** Time as an argument: the machine's own, or one that a test moves by hand. */

export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** Runs `work` later and returns the way to prevent it. */
	after: (ms: number, work: () => void) => () => void;
}

/** The machine's own. Its timers do not keep the process alive. */
export const systemClock: Clock = {
	now: Date.now,
	after(ms, work) {
		const timer = setTimeout(work, ms);
		timer.unref();
		return () => clearTimeout(timer);
	},
};
