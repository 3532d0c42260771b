/**
 * How to get through many files without being noticed: a few milliseconds at a time, and no waiting for a disk that turns
 * out to be slow.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

const sliceMs = 2;
/** A file that is in memory takes a hundredth of this, and the loop may wait twice as long. */
const slowMs = 5;

export class Pace {
	readonly #now: () => number;
	#sliceStart: number;
	/** For so many batches files are not waited for. */
	#later = 0;
	/** How many these will be the next time. */
	#penalty = 1;
	/** The files of this batch are asked for at once. */
	#isTrying = false;
	#isSlow = false;

	/** `now` is in milliseconds, for tests. */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
		this.#sliceStart = now();
	}

	/** After a slow file the next batches are left to the background, more of them each time. */
	nextBatch(): "at once" | "later" {
		if (this.#isSlow) {
			this.#later = this.#penalty;
			this.#penalty *= 2;
		} else if (this.#isTrying) this.#penalty = 1;
		this.#isSlow = false;
		this.#isTrying = this.#later === 0;
		if (this.#isTrying) return "at once";
		this.#later--;
		return "later";
	}

	/** Asks for one file at once, and remembers when that took long. */
	ask<T>(work: () => T): T {
		const start = this.#now();
		const value = work();
		this.#isSlow ||= this.#now() - start > slowMs;
		return value;
	}

	/** A file of this batch was slow. */
	get isSlow(): boolean {
		return this.#isSlow;
	}

	/** Whether it is time to give the event loop back. */
	get isTired(): boolean {
		return this.#now() - this.#sliceStart >= sliceMs;
	}

	async rest(): Promise<void> {
		await nextTurn();
		this.#sliceStart = this.#now();
	}
}
