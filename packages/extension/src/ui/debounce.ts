/** Coalesces frequent updates of the UI. */
import { bestEffort, type Report, systemClock } from "@pi-subagents/core";

/** Calls `show` once, a while after the first of any number of calls. */
export interface Debounced {
	(): void;
	/** For a session that ends: nothing is shown any more, whatever its agents do in their last moment. */
	cancel(): void;
}

/** Short enough to feel immediate; without it, many short agents would cause hundreds of updates, and each an early one. */
const PAUSE_MS = 50;

export function debounce(label: string, report: Report, show: () => void, pauseMs = PAUSE_MS): Debounced {
	let cancelDue: (() => void) | undefined;
	const showNow = () => {
		cancelDue = undefined;
		void bestEffort(label, report, show);
	};
	const ask = () => {
		cancelDue ??= systemClock.after(pauseMs, showNow);
	};
	const cancel = () => {
		cancelDue?.();
		cancelDue = () => undefined;
	};
	return Object.assign(ask, { cancel });
}
