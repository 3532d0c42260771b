/**
 * Follows one agent and tells a listener its last progress lines: only when they changed,
 * and at most ten times a second, since every update redraws a row and is sent to every client of pi.
 */
import { type AgentEvent, type AgentRecord, isSettled, type Store } from "@pi-subagents/core";

const SHORTEST_PAUSE_MS = 100;
const LINES_KEPT = 6;

export interface ProgressFeed {
	/** Ends the feed; nothing is told after it. */
	close(): void;
}

/** What the feed needs of time; `setTimeout` and friends in pi, a hand clock in tests. */
export interface FeedTimer {
	now: () => number;
	/** Runs `work` later and returns the way to prevent it. */
	after: (ms: number, work: () => void) => () => void;
}

export function followProgress(
	store: Store,
	agentId: string,
	tell: (lines: readonly string[], record: AgentRecord) => void,
	timer: FeedTimer = realTimer,
): ProgressFeed {
	let lines: readonly string[] = [];
	let toldAt = Number.NEGATIVE_INFINITY;
	let cancel: (() => void) | undefined;
	const tellNow = () => {
		cancel = undefined;
		const record = store.record(agentId);
		if (!record) return;
		toldAt = timer.now();
		tell(lines, record);
	};
	const unsubscribe = store.subscribe((event: AgentEvent, record: AgentRecord) => {
		if (event.agentId !== agentId || isSettled(record.status)) return;
		const line = record.activity;
		if (line === undefined || line === lines.at(-1)) return;
		lines = [...lines, line].slice(-LINES_KEPT);
		cancel ??= timer.after(Math.max(0, toldAt + SHORTEST_PAUSE_MS - timer.now()), tellNow);
	});
	return {
		close() {
			unsubscribe();
			cancel?.();
		},
	};
}

const realTimer: FeedTimer = {
	now: Date.now,
	after(ms, work) {
		const timer = setTimeout(work, ms);
		timer.unref();
		return () => clearTimeout(timer);
	},
};
