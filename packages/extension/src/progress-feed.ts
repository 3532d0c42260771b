/**
 * Follows one agent and tells a listener its last progress lines: when there is a new one, at most ten times a second,
 * since every update redraws a row and is sent to every client of pi; and at every whole second so that its clock moves,
 * with all others in one frame.
 * Those in a crowd also wait for the second with their news, and leave the clocks to the tree. It is one until all have
 * been closed, so nobody leaves it alone.
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
import { isCrowded, joinCrowd, untilNextSecond } from "./crowd.ts";

const SHORTEST_PAUSE_MS = 100;
const LINES_KEPT = 4;

export interface ProgressFeed {
	/** Ends the feed; nothing is told after it. */
	close(): void;
}

export interface FeedOptions {
	clock?: Clock;
	/** It has a row of a screen to itself. In a crowd that waits until there is something to say: the tree shows the agent. */
	hasRow?: boolean;
}

export function followProgress(
	store: Store,
	agentId: string,
	tell: (lines: readonly string[], record: AgentRecord, now: number) => void,
	{ clock = systemClock, hasRow = false }: FeedOptions = {},
): ProgressFeed {
	const steady = steadyClock(clock);
	const leaveCrowd = joinCrowd(store);
	let isOpen = true;
	let lines: readonly string[] = [];
	let toldAt = Number.NEGATIVE_INFINITY;
	let hasNews = true;
	let cancel = clock.after(0, () => begin());
	const begin = () => {
		if (!isCrowded(store) || !hasRow) return tellNow();
		hasNews = lines.length > 0;
		if (hasNews) cancel = clock.after(untilNextSecond(clock), tellNow);
	};
	const tellNow = () => {
		const record = store.record(agentId);
		if (!record) return;
		hasNews = false;
		if (lines.length > 0) toldAt = steady.now(); // the first line need not wait for the word that it has started
		tell(lines.length > 0 ? lines : [record.status === "queued" ? "Queued" : "Starting"], record, clock.now());
		if (!isCrowded(store)) cancel = clock.after(untilNextSecond(clock), moveClock);
	};
	const moveClock = () => {
		if (!isCrowded(store)) tellNow();
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
		cancel = clock.after(isCrowded(store) ? untilNextSecond(clock) : soonMs, tellNow);
	});
	return {
		close() {
			if (isOpen) leaveCrowd();
			isOpen = false;
			unsubscribe();
			cancel();
		},
	};
}
