/**
 * Follows one agent and tells a listener its last progress lines: when there is a new one, at most ten times a second,
 * since every update redraws a row and is sent to every client of pi; and at every whole second so that its clock moves,
 * with all others in one frame.
 * Many who are followed at once have more rows than a screen, and pi draws everything anew for a change above it. So they
 * also wait for the second with their news, and leave the clocks to the tree.
 */
import {
	type AgentEvent,
	type AgentRecord,
	type Clock,
	isSettled,
	type Store,
	steadyClock,
	systemClock,
} from "@pi-subagents/core";

const SHORTEST_PAUSE_MS = 100;
const SECOND_MS = 1_000;
const LINES_KEPT = 4;
/** Their rows fit on a screen. */
const FEW = 4;
/** How many are followed. */
const followed = new WeakMap<Store, number>();

export interface ProgressFeed {
	/** Ends the feed; nothing is told after it. */
	close(): void;
}

export function followProgress(
	store: Store,
	agentId: string,
	tell: (lines: readonly string[], record: AgentRecord, now: number) => void,
	clock: Clock = systemClock,
): ProgressFeed {
	const untilNextSecond = () => {
		const restMs = SECOND_MS - (clock.now() % SECOND_MS);
		return restMs < SHORTEST_PAUSE_MS ? restMs + SECOND_MS : restMs; // a timer may come a little early
	};
	const isCrowded = () => (followed.get(store) ?? 0) > FEW;
	const count = (change: 1 | -1) => followed.set(store, (followed.get(store) ?? 0) + change);
	const steady = steadyClock(clock);
	let isOpen = true;
	let lines: readonly string[] = [];
	let toldAt = Number.NEGATIVE_INFINITY;
	let hasNews = true;
	let cancel = clock.after(0, () => tellNow());
	const tellNow = () => {
		const record = store.record(agentId);
		if (!record) return;
		hasNews = false;
		if (lines.length > 0) toldAt = steady.now(); // the first line need not wait for the word that it has started
		tell(lines.length > 0 ? lines : [record.status === "queued" ? "Queued" : "Starting"], record, clock.now());
		cancel = clock.after(untilNextSecond(), moveClock);
	};
	const moveClock = () => {
		if (!isCrowded()) return tellNow();
		cancel = clock.after(untilNextSecond(), moveClock);
	};
	const unsubscribe = store.subscribe((event: AgentEvent, record: AgentRecord) => {
		if (event.agentId !== agentId || isSettled(record.status)) return;
		const line = record.activity;
		if (line === undefined || line === lines.at(-1)) return;
		lines = [...lines, line].slice(-LINES_KEPT);
		if (hasNews) return; // it will be told soon
		hasNews = true;
		cancel();
		const soonMs = Math.max(0, toldAt + SHORTEST_PAUSE_MS - steady.now());
		cancel = clock.after(isCrowded() ? untilNextSecond() : soonMs, tellNow);
	});
	count(1);
	return {
		close() {
			if (isOpen) count(-1);
			isOpen = false;
			unsubscribe();
			cancel();
		},
	};
}
