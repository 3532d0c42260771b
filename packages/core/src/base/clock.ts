/** Time as an argument: the system clock in pi, a clock moved by hand in tests. */

export interface Clock {
	/** Milliseconds since the epoch. */
	now: () => number;
	/** The same, but unaffected when the time of day is changed: for measuring durations. `now` when absent. */
	steady?: () => number;
	/** Runs `work` later. Returns a function that cancels it. */
	after: (ms: number, work: () => void) => () => void;
	/** Milliseconds of processor time that this process has used: for limits on what it computes. Absent where only time counts. */
	computed?: () => number;
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
	computed() {
		const { user, system } = process.cpuUsage();
		return (user + system) / 1_000;
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

/** In steps: time that the machine slept through is not charged. */
const COUNT_DOWN_STEPS = 10;

/** How many times longer it takes at most where other programs use the machine: one that only waits must end, too. */
const MOST_TIMES = 10;

/**
 * A limit on what a thread of this process computes: calls `onOver` after so much time, but not before the process has
 * computed for so long, since on a busy machine the thread may have got little of it. Returns a function that cancels it.
 */
export function countDown(
	{ after, computed }: Pick<Clock, "after" | "computed">,
	ms: number,
	onOver: () => void,
): () => void {
	const before = computed?.() ?? 0;
	const isStarved = () => computed !== undefined && computed() - before < ms;
	let cancel = () => {};
	const step = (count: number): void => {
		cancel = after(ms / COUNT_DOWN_STEPS, () => {
			const isLast = count === COUNT_DOWN_STEPS * MOST_TIMES || (count >= COUNT_DOWN_STEPS && !isStarved());
			if (isLast) onOver();
			else step(count + 1);
		});
	};
	step(1);
	return () => cancel();
}

/** For waiting and deadlines: changing the time of day must not shorten or extend them. */
export function steadyClock(clock: Clock): Clock {
	return { ...clock, now: clock.steady ?? clock.now };
}
