/**
 * Many agents that are waited for at once have more rows than a screen, and pi draws everything anew for a change above
 * it. So the rows of a crowd change together, at whole seconds: when they have news, and when their calls end. Nobody
 * waits longer for that: pi goes on when all calls of a message have ended, and with the last of them all do.
 */
import { type Clock, type Store, systemClock } from "@pi-subagents/core";

/** Their rows fit on a screen. */
const FEW = 4;
const SECOND_MS = 1_000;
/** A timer may come a little early. */
const EARLY_MS = 100;

interface Crowd {
	followed: number;
	/** Since nobody was: the rows of those who have ended are still there. */
	most: number;
	/** Calls that wait for their agents. */
	calls: number;
	/** Calls that have what they waited for, but do not say so yet. */
	readonly held: Set<() => void>;
	cancelTimer: (() => void) | undefined;
}

const crowds = new WeakMap<Store, Crowd>();

function crowdOf(store: Store): Crowd {
	let crowd = crowds.get(store);
	if (!crowd) {
		crowd = { followed: 0, most: 0, calls: 0, held: new Set(), cancelTimer: undefined };
		crowds.set(store, crowd);
	}
	return crowd;
}

export function isCrowded(store: Store): boolean {
	return crowdOf(store).most > FEW;
}

/** One more agent is followed, until the returned function is called, once. */
export function joinCrowd(store: Store): () => void {
	const crowd = crowdOf(store);
	crowd.followed++;
	crowd.most = Math.max(crowd.most, crowd.followed);
	return () => {
		crowd.followed--;
		if (crowd.followed === 0) crowd.most = 0;
	};
}

export function untilNextSecond(clock: Clock): number {
	const restMs = SECOND_MS - (clock.now() % SECOND_MS);
	return restMs < EARLY_MS ? restMs + SECOND_MS : restMs;
}

/** A call begins to wait. Call what is returned when it has waited, and end the call when that resolves. */
export function beginCall(store: Store, clock: Clock = systemClock): (signal?: AbortSignal) => Promise<void> {
	const crowd = crowdOf(store);
	crowd.calls++;
	return async (signal) => {
		const wasCrowded = isCrowded(store);
		crowd.calls--;
		if (crowd.calls === 0) releaseAll(crowd);
		else if (wasCrowded && !signal?.aborted) await held(crowd, clock, signal);
	};
}

function held(crowd: Crowd, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const giveUp = () => releaseAll(crowd);
	crowd.held.add(() => {
		signal?.removeEventListener("abort", giveUp);
		resolve();
	});
	signal?.addEventListener("abort", giveUp, { once: true });
	crowd.cancelTimer ??= clock.after(untilNextSecond(clock), giveUp);
	return promise;
}

function releaseAll(crowd: Crowd): void {
	crowd.cancelTimer?.();
	crowd.cancelTimer = undefined;
	for (const release of crowd.held) release();
	crowd.held.clear();
}
