/**
 * Many agents waited for at once have more rows than a screen, and pi redraws everything when a row above the screen
 * changes. So the rows of a batch update together, at whole seconds: for news, and when their calls end. This delays
 * nothing: pi continues only when all calls of a message have ended, and the last one releases the others.
 */
import { type Clock, type Store, systemClock } from "@pi-subagents/core";

/** Up to this many, the rows fit on a screen. */
const FEW = 4;
const SECOND_MS = 1_000;
/** Timers may fire a little early. */
const EARLY_MS = 100;

interface RowBatch {
	followed: number;
	/** The highest count since the last time it was zero: rows of finished agents are still on the screen. */
	most: number;
	/** Calls that wait for their agents. */
	calls: number;
	/** Calls whose agents are done, but that have not returned yet. */
	readonly held: Set<() => void>;
	cancelTimer: (() => void) | undefined;
}

const batches = new WeakMap<Store, RowBatch>();

function batchOf(store: Store): RowBatch {
	let batch = batches.get(store);
	if (!batch) {
		batch = { followed: 0, most: 0, calls: 0, held: new Set(), cancelTimer: undefined };
		batches.set(store, batch);
	}
	return batch;
}

export function isBatched(store: Store): boolean {
	return batchOf(store).most > FEW;
}

/** Adds an agent. Call the returned function once to remove it. */
export function joinBatch(store: Store): () => void {
	const batch = batchOf(store);
	batch.followed++;
	batch.most = Math.max(batch.most, batch.followed);
	return () => {
		batch.followed--;
		if (batch.followed === 0) batch.most = 0;
	};
}

export function untilNextSecond(clock: Clock): number {
	const restMs = SECOND_MS - (clock.now() % SECOND_MS);
	return restMs < EARLY_MS ? restMs + SECOND_MS : restMs;
}

/** A call begins to wait. When it is done, call the returned function and end the call when that resolves. */
export function beginCall(store: Store, clock: Clock = systemClock): (signal?: AbortSignal) => Promise<void> {
	const batch = batchOf(store);
	batch.calls++;
	return async (signal) => {
		const wasBatched = isBatched(store);
		batch.calls--;
		if (batch.calls === 0) releaseAll(batch);
		else if (wasBatched && !signal?.aborted) await held(batch, clock, signal);
	};
}

function held(batch: RowBatch, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const giveUp = () => releaseAll(batch);
	batch.held.add(() => {
		signal?.removeEventListener("abort", giveUp);
		resolve();
	});
	signal?.addEventListener("abort", giveUp, { once: true });
	batch.cancelTimer ??= clock.after(untilNextSecond(clock), giveUp);
	return promise;
}

function releaseAll(batch: RowBatch): void {
	batch.cancelTimer?.();
	batch.cancelTimer = undefined;
	for (const release of batch.held) release();
	batch.held.clear();
}
