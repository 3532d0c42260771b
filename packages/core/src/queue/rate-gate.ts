/**
 * Holds back all users of a provider after "too many requests", instead of letting each fail. After the pause they
 * continue, each at a random moment within a short spread. At most one timer runs, and none if nothing waits.
 */
import type { Clock } from "../base/clock.ts";
import type { HoldReason } from "./hold-reason.ts";
import { SortedList } from "./sorted-list.ts";

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
	/** No one continues before this. */
	untilMs: number;
	/** From here on the gate is open; in between, each has its own moment. */
	openMs: number;
}

/** The moment when one may continue. */
interface Turn {
	readonly provider: string;
	readonly among: number;
	readonly start: () => void;
	atMs: number;
}

/** Longer requests are cut to this: some providers state a date, and clocks are wrong. */
export const LONGEST_PAUSE_MS = 10 * 60_000;
const SHORTEST_SPREAD_MS = 1_000;
const LONGEST_SPREAD_MS = 10_000;

export class RateGate {
	readonly #clock: Clock;
	readonly #random: () => number;
	readonly #pauses = new Map<string, Pause>();
	readonly #turns = new SortedList<Turn>((one, other) => one.atMs < other.atMs);
	#timer: { atMs: number; cancel: () => void } | undefined;

	constructor(options: RateGateOptions) {
		this.#clock = options.clock;
		this.#random = options.random;
	}

	/** Closes the gate until then. Later calls can only extend it; a time in the past does nothing. */
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

	/** The end of the pause that users of this provider wait for; undefined if the gate is open. */
	pausedUntil(provider: string): number | undefined {
		return this.#pauseOf(provider)?.untilMs;
	}

	/** How long that pause still lasts. */
	pauseMs(provider: string): number {
		return Math.max(0, (this.#pauseOf(provider)?.untilMs ?? 0) - this.#clock.now());
	}

	/** The pauses that have not ended. */
	pauses(): ProviderPause[] {
		const now = this.#clock.now();
		return [...this.#pauses]
			.filter(([, { untilMs }]) => untilMs > now)
			.map(([provider, { untilMs }]) => ({ provider, untilMs }));
	}

	/**
	 * For a running agent, before each request: resolves immediately if the gate is open, else at its own moment.
	 * Rejects only when `signal` fires.
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
	 * Calls `start` once, later, at its own moment; returns a function that cancels it. With `among`, the number still
	 * to be started one after the other, the moments are spread as if each had waited by itself.
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
		this.#turns.add(turn);
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

/** Why users of a paused provider wait. */
export function pauseReason(gate: RateGate, provider: string): HoldReason {
	return { by: "pause", provider, waitMs: gate.pauseMs(provider) };
}
