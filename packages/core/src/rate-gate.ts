/**
 * Holds back everybody who uses a provider after it said "too many requests", instead of letting each fail on its own.
 * After a pause all may go again, but not at once: each gets a moment of its own within a short spread.
 * At most one timer runs, and none when nobody waits.
 */
import type { Clock } from "./clock.ts";
import { Heap } from "./slots-heap.ts";

export interface RateGateOptions {
	clock: Clock;
	/** From 0 to below 1, like `Math.random`. */
	random: () => number;
}

export interface ProviderPause {
	provider: string;
	untilMs: number;
}

interface Pause {
	/** Nobody goes before this. */
	untilMs: number;
	/** Everybody goes from here on; between the two each has a moment of its own. */
	openMs: number;
}

/** Somebody's moment to go. */
interface Turn {
	readonly provider: string;
	readonly among: number;
	readonly start: () => void;
	atMs: number;
}

/** A provider that asks for more gets asked again after this long: some state a date, and clocks are wrong. */
const LONGEST_PAUSE_MS = 10 * 60_000;
const SHORTEST_SPREAD_MS = 1_000;
const LONGEST_SPREAD_MS = 10_000;

export class RateGate {
	readonly #clock: Clock;
	readonly #random: () => number;
	readonly #pauses = new Map<string, Pause>();
	readonly #turns = new Heap<Turn>((one, other) => one.atMs < other.atMs);
	#timer: { atMs: number; cancel: () => void } | undefined;

	constructor(options: RateGateOptions) {
		this.#clock = options.clock;
		this.#random = options.random;
	}

	/** Closes the gate until then. A later call can only extend that; a moment in the past is nothing. */
	pause(provider: string, untilMs: number): void {
		const now = this.#clock.now();
		const endMs = Math.min(untilMs, now + LONGEST_PAUSE_MS);
		if (!(endMs > now)) return; // NaN as well
		const spreadMs = Math.min(Math.max((endMs - now) / 4, SHORTEST_SPREAD_MS), LONGEST_SPREAD_MS);
		const before = this.#pauseOf(provider);
		this.#pauses.set(provider, {
			untilMs: Math.max(endMs, before?.untilMs ?? endMs),
			openMs: Math.max(endMs + spreadMs, before?.openMs ?? endMs),
		});
	}

	/** The end of the pause that makes users of this provider wait for a turn; undefined when all may go. */
	pausedUntil(provider: string): number | undefined {
		return this.#pauseOf(provider)?.untilMs;
	}

	/** The pauses that have not ended. */
	pauses(): ProviderPause[] {
		const now = this.#clock.now();
		return [...this.#pauses]
			.filter(([, { untilMs }]) => untilMs > now)
			.map(([provider, { untilMs }]) => ({ provider, untilMs }));
	}

	/**
	 * For a running agent, before each request to its provider: resolves at once when the gate is open, else at a
	 * moment of its own. Rejects only when `signal` ends the waiting.
	 */
	whenOpen(provider: string, signal?: AbortSignal): Promise<void> {
		if (signal?.aborted) return Promise.reject(signal.reason);
		if (!this.#pauseOf(provider)) return Promise.resolve();
		return new Promise((resolve, reject) => {
			const onAbort = () => {
				leave();
				reject(signal?.reason);
			};
			const leave = this.atTurn(provider, () => {
				signal?.removeEventListener("abort", onAbort);
				resolve();
			});
			signal?.addEventListener("abort", onAbort, { once: true });
		});
	}

	/**
	 * Calls `start` later, once, at a moment of its own, and returns the way to prevent it. Who starts several one after
	 * the other says how many they still are: the moments are then spread as if each had waited by itself.
	 */
	atTurn(provider: string, start: () => void, options: { among?: number } = {}): () => void {
		const turn: Turn = { provider, start, among: Math.max(1, options.among ?? 1), atMs: 0 };
		this.#book(turn);
		this.#arm();
		return () => {
			this.#turns.remove(turn);
			this.#arm();
		};
	}

	#pauseOf(provider: string): Pause | undefined {
		const pause = this.#pauses.get(provider);
		if (pause && pause.openMs <= this.#clock.now()) {
			this.#pauses.delete(provider);
			return undefined;
		}
		return pause;
	}

	#book(turn: Turn): void {
		const now = this.#clock.now();
		const pause = this.#pauseOf(turn.provider);
		const fromMs = Math.max(now, pause?.untilMs ?? now);
		const spreadMs = (pause?.openMs ?? now) - fromMs;
		// The earliest of `among` moments drawn evenly from the spread.
		turn.atMs = fromMs + spreadMs * (1 - (1 - this.#random()) ** (1 / turn.among));
		this.#turns.put(turn);
	}

	#arm(): void {
		const atMs = this.#turns.first()?.atMs;
		if (atMs === this.#timer?.atMs) return;
		this.#timer?.cancel();
		this.#timer = undefined;
		if (atMs === undefined) return;
		const cancel = this.#clock.after(Math.max(0, Math.ceil(atMs - this.#clock.now())), () => this.#ring());
		this.#timer = { atMs, cancel };
	}

	#ring(): void {
		this.#timer = undefined;
		const now = this.#clock.now();
		try {
			for (let turn = this.#turns.first(); turn && turn.atMs <= now; turn = this.#turns.first()) {
				this.#turns.remove(turn);
				if ((this.pausedUntil(turn.provider) ?? now) > now)
					this.#book(turn); // extended meanwhile
				else turn.start();
			}
		} finally {
			this.#arm();
		}
	}
}
