/** For what is shown of something that changes often: a thousand changes at once are one showing. */
import { bestEffort, type Report, systemClock } from "@pi-subagents/core";

/** Lets `show` run once, a moment later, however often it is called until then; and again only after a pause. */
export interface Soon {
	(): void;
	/** A session that ends shows nothing any more. */
	cancel(): void;
}

/** Faster than anybody reads: agents that start and end one after the other would else be shown a hundred times. */
const PAUSE_MS = 50;

export function soon(label: string, report: Report, show: () => void): Soon {
	let cancelDue: (() => void) | undefined;
	let shownAt = Number.NEGATIVE_INFINITY;
	const showNow = () => {
		cancelDue = undefined;
		shownAt = performance.now();
		void bestEffort(label, report, show);
	};
	const ask = () => {
		const restMs = shownAt + PAUSE_MS - performance.now();
		cancelDue ??= restMs > 0 ? systemClock.after(restMs, showNow) : inThisTurn(showNow);
	};
	const cancel = () => {
		cancelDue?.();
		cancelDue = undefined;
	};
	return Object.assign(ask, { cancel });
}

function inThisTurn(work: () => void): () => void {
	const due = setImmediate(work);
	return () => clearImmediate(due);
}
