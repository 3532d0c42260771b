/** Coalesces frequent updates of the UI. */
import { bestEffort, type Report, systemClock } from "@pi-subagents/core";

/** Calls `show` once, shortly after any number of calls, and again only after a pause. */
export interface Debounced {
	(): void;
	/** For a session that ends. */
	cancel(): void;
}

/** Short enough to feel immediate; without it, many short agents would cause hundreds of updates. */
const PAUSE_MS = 50;

export function debounce(label: string, report: Report, show: () => void): Debounced {
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
