/** Aggregates of a branch: how many agents, how urgent, how deep. */
import { ACTIVE, type AgentView, QUEUED, type Rank, SETTLED } from "./view.ts";

export interface Counts {
	readonly running: number;
	readonly waiting: number;
	readonly queued: number;
	/** Completed, failed or aborted. */
	readonly finished: number;
}

/** Of some siblings and their descendants. */
export interface Summary extends Counts {
	/** How many siblings. */
	readonly size: number;
	/** Which kinds of siblings there are, one bit for each; see {@link kindOf}. */
	readonly kinds: number;
	/** How many levels, including their own. */
	readonly height: number;
	/** The greatest `depth` of a view. */
	readonly depth: number;
}

export const NOTHING: Summary = {
	running: 0,
	waiting: 0,
	queued: 0,
	finished: 0,
	size: 0,
	kinds: 0,
	height: 0,
	depth: 0,
};

/** One bit for an agent's own rank and the most urgent rank of its branch. */
export function kindOf(own: Rank, best: Rank): number {
	return 1 << (own * 3 + best);
}

export function total({ running, waiting, queued, finished }: Counts): number {
	return running + waiting + queued + finished;
}

export function minus(all: Counts, part: Counts): Counts {
	return {
		running: all.running - part.running,
		waiting: all.waiting - part.waiting,
		queued: all.queued - part.queued,
		finished: all.finished - part.finished,
	};
}

export function plus(one: Counts, other: Counts): Counts {
	return {
		running: one.running + other.running,
		waiting: one.waiting + other.waiting,
		queued: one.queued + other.queued,
		finished: one.finished + other.finished,
	};
}

/** Of an agent and its descendants, as a single sibling. */
export function summaryOf(view: AgentView, own: Rank, children: Summary): Summary {
	const isRunning = own === ACTIVE && view.status !== "waiting";
	const isWaiting = own === ACTIVE && view.status === "waiting";
	const running = children.running + (isRunning ? 1 : 0);
	const waiting = children.waiting + (isWaiting ? 1 : 0);
	const queued = children.queued + (own === QUEUED ? 1 : 0);
	const best = running + waiting > 0 ? ACTIVE : queued > 0 ? QUEUED : SETTLED;
	return {
		running,
		waiting,
		queued,
		finished: children.finished + (own === SETTLED ? 1 : 0),
		size: 1,
		kinds: kindOf(own, best),
		height: children.height + 1,
		depth: Math.max(children.depth, typeof view.depth === "number" && view.depth > 0 ? view.depth : 0),
	};
}

/** Of several siblings. */
export function summaryOfAll(parts: readonly ({ readonly sum: Summary } | undefined)[]): Summary {
	let running = 0;
	let waiting = 0;
	let queued = 0;
	let finished = 0;
	let size = 0;
	let kinds = 0;
	let height = 0;
	let depth = 0;
	for (const part of parts) {
		if (part === undefined) continue;
		const { sum } = part;
		running += sum.running;
		waiting += sum.waiting;
		queued += sum.queued;
		finished += sum.finished;
		size += sum.size;
		kinds |= sum.kinds;
		height = Math.max(height, sum.height);
		depth = Math.max(depth, sum.depth);
	}
	return { running, waiting, queued, finished, size, kinds, height, depth };
}
