/**
 * Decides how to read many files without blocking the event loop noticeably: synchronously while that is fast, in the
 * background after a slow read, and never for longer than a few milliseconds at a time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

const sliceMs = 2;
/** A cached file takes a hundredth of this. A slower one may block the event loop for twice as long at most. */
const slowMs = 5;

export class ReadScheduler {
	readonly #now: () => number;
	#sliceStart: number;
	/** How many of the next batches to read in the background. */
	#backgroundBatches = 0;
	/** How many batches the next slow read will cost. */
	#penalty = 1;
	/** Whether this batch is read synchronously. */
	#isSync = false;
	#isSlow = false;

	/** `now` is in milliseconds, for tests. */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
		this.#sliceStart = now();
	}

	/** After a slow read the next batches are read in the background, twice as many each time. */
	nextBatch(): "sync" | "background" {
		if (this.#isSlow) {
			this.#backgroundBatches = this.#penalty;
			this.#penalty *= 2;
		} else if (this.#isSync) this.#penalty = 1;
		this.#isSlow = false;
		this.#isSync = this.#backgroundBatches === 0;
		if (this.#isSync) return "sync";
		this.#backgroundBatches--;
		return "background";
	}

	/** Runs one synchronous read and records whether it was slow. */
	measure<T>(read: () => T): T {
		const start = this.#now();
		const value = read();
		this.#isSlow ||= this.#now() - start > slowMs;
		return value;
	}

	/** Whether a read of this batch was slow. */
	get isSlow(): boolean {
		return this.#isSlow;
	}

	/** Whether it is time to let the event loop run. */
	get mustYield(): boolean {
		return this.#now() - this.#sliceStart >= sliceMs;
	}

	async yieldToEventLoop(): Promise<void> {
		await nextTurn();
		this.#sliceStart = this.#now();
	}
}
