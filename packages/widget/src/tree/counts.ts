/** How many agents of a group are in each state. */

export interface Counts {
	readonly running: number;
	readonly waiting: number;
	readonly queued: number;
	/** Completed, failed or aborted. */
	readonly finished: number;
}

export const NOTHING: Counts = { running: 0, waiting: 0, queued: 0, finished: 0 };

export function total({ running, waiting, queued, finished }: Counts): number {
	return running + waiting + queued + finished;
}

export function plus(one: Counts, other: Counts): Counts {
	return {
		running: one.running + other.running,
		waiting: one.waiting + other.waiting,
		queued: one.queued + other.queued,
		finished: one.finished + other.finished,
	};
}

export function minus(all: Counts, part: Counts): Counts {
	return {
		running: all.running - part.running,
		waiting: all.waiting - part.waiting,
		queued: all.queued - part.queued,
		finished: all.finished - part.finished,
	};
}
