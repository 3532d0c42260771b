/**
 * Follows one agent and reports its last progress lines: for a new line, at most ten times a second, since every
 * update redraws a row and goes to every client of pi; and every whole second to advance its clock, together with all
 * others in one frame. Agents in a batch report their news at whole seconds, too, and leave the clocks to the tree.
 * The batch lasts until all its feeds are closed.
 */
import { type AgentRecord, type Clock, type Store, steadyClock, systemClock } from "@pi-subagents/core";
import { isSettled } from "@pi-subagents/progress";
import { isBatched, joinBatch, untilNextSecond } from "./batch-row-updates.ts";

const SHORTEST_PAUSE_MS = 100;
const LINES_KEPT = 4;

export interface ProgressFeed {
	/** Ends the feed; nothing is reported after it. */
	close(): void;
}

export interface FeedOptions {
	clock?: Clock;
	/** It has its own row on the screen. In a batch, it waits for its first news: the tree shows the agent. */
	hasRow?: boolean;
	/** What the agent does now, where that is fresher than its last line. */
	activityOf?: ((agentId: string) => string | undefined) | undefined;
}

export function followProgress(
	store: Store,
	agentId: string,
	onUpdate: (lines: readonly string[], record: AgentRecord, now: number) => void,
	{ clock = systemClock, hasRow = false, activityOf }: FeedOptions = {},
): ProgressFeed {
	const steady = steadyClock(clock);
	const leaveBatch = joinBatch(store);
	let isOpen = true;
	const { activity, outcome } = store.record(agentId) ?? {};
	let lines: readonly string[] = activity === undefined || outcome ? [] : [activity];
	let updatedAt = Number.NEGATIVE_INFINITY;
	let hasNews = true;
	let cancel = clock.after(0, () => begin());
	const begin = () => {
		if (!isBatched(store)) return updateNow();
		if (hasRow) hasNews = lines.length > 0;
		if (hasNews) cancel = clock.after(untilNextSecond(clock), updateNow);
	};
	const updateNow = () => {
		const record = store.record(agentId);
		if (!record) return;
		hasNews = false;
		if (lines.length > 0) updatedAt = steady.now(); // the first line need not wait after "Starting"
		const now = activityOf?.(agentId);
		const shown = now === undefined || now === lines.at(-1) ? lines : [...lines, now].slice(-LINES_KEPT);
		onUpdate(shown.length > 0 ? shown : [record.status === "queued" ? "Queued" : "Starting"], record, clock.now());
		if (!isBatched(store)) cancel = clock.after(untilNextSecond(clock), moveClock);
	};
	const moveClock = () => {
		if (!isBatched(store)) updateNow();
	};
	const unsubscribe = store.follow(agentId, ({ record, line }) => {
		if (isSettled(record.status)) return;
		if (line === undefined || line === lines.at(-1)) return;
		lines = [...lines, line].slice(-LINES_KEPT);
		if (hasNews) return; // an update is scheduled
		hasNews = true;
		cancel();
		const soonMs = Math.max(0, updatedAt + SHORTEST_PAUSE_MS - steady.now());
		cancel = clock.after(isBatched(store) ? untilNextSecond(clock) : soonMs, updateNow);
	});
	return {
		close() {
			if (isOpen) leaveBatch();
			isOpen = false;
			unsubscribe();
			cancel();
		},
	};
}
