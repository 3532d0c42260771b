/** Time as an argument: the system clock in pi, a clock moved by hand in tests. */

export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** The same, but unaffected when the time of day is changed: for measuring durations. `now` when absent. */
	steady?: () => number;
	/** Runs `work` later. Returns a function that cancels it. */
	after: (ms: number, work: () => void) => () => void;
	/** Keeps the process alive until the returned function is called. Absent where that is not needed. */
	hold?: () => () => void;
}

const PROCESS_START = performance.timeOrigin; // reading it takes longer than asking for the time

/** A timer of 2^31 milliseconds or more would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system clock. Its timers do not keep the process alive; `hold` does. */
export const systemClock: Clock = {
	now: Date.now,
	steady: () => PROCESS_START + performance.now(),
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

/** The whole milliseconds between two times; 0 if the time of day was set back in between. */
export function wholeMs(from: number, to: number): number {
	const ms = Math.round(to - from);
	return ms > 0 ? ms : 0; // NaN as well
}

/** Resolves after this long by the given clock. */
export function sleep(ms: number, { after }: Pick<Clock, "after">): Promise<void> {
	return new Promise((resolve) => void after(ms, resolve));
}

/** In steps: time that the machine slept through, or was too busy to count, is not charged. */
const COUNT_DOWN_STEPS = 10;

/** Calls `onOver` after so much time in which the machine ran. Returns a function that cancels it. */
export function countDown({ after }: Pick<Clock, "after">, ms: number, onOver: () => void): () => void {
	let cancel = () => {};
	const step = (left: number): void => {
		cancel = after(ms / COUNT_DOWN_STEPS, () => (left > 1 ? step(left - 1) : onOver()));
	};
	step(COUNT_DOWN_STEPS);
	return () => cancel();
}

/** For waiting and deadlines: changing the time of day must not shorten or extend them. */
export function steadyClock(clock: Clock): Clock {
	return { ...clock, now: clock.steady ?? clock.now };
}
