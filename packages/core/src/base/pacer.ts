/**
 * Runs work at most once per pause, however often it is asked for: redraws, and messages about many small changes. What
 * is asked for during a pause is done at its end.
 */
import { type Clock, steadyClock } from "./clock.ts";

export interface PacerOptions {
	clock: Clock;
	/** 0: nothing waits. */
	pauseMs: number;
	work: () => void;
	/** After a quiet time, work begins at once. Otherwise always after a pause, so that what comes together is done together. */
	isPrompt?: boolean;
}

export class Pacer {
	readonly #options: PacerOptions;
	readonly #clock: Clock;
	#doneAt = Number.NEGATIVE_INFINITY;
	#cancelDue: (() => void) | undefined;
	#isClosed = false;

	constructor(options: PacerOptions) {
		this.#options = options;
		this.#clock = steadyClock(options.clock);
	}

	/** Something changed. */
	ask(): void {
		if (this.#isClosed || this.#cancelDue) return;
		const { pauseMs, isPrompt = false } = this.#options;
		const waitMs = isPrompt ? this.#doneAt + pauseMs - this.#clock.now() : pauseMs;
		if (waitMs <= 0) this.#work();
		else this.#cancelDue = this.#clock.after(waitMs, () => this.#work());
	}

	/** It was done otherwise: nothing waits any more, and a pause begins. */
	skip(): void {
		this.cancel();
		this.#doneAt = this.#clock.now();
	}

	/** Nothing waits any more. */
	cancel(): void {
		this.#cancelDue?.();
		this.#cancelDue = undefined;
	}

	/** Nothing is done any more, whatever is asked for. */
	close(): void {
		this.#isClosed = true;
		this.cancel();
	}

	#work(): void {
		this.skip();
		this.#options.work();
	}
}
