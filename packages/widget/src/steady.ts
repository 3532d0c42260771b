/**
 * Keeps a frame from jumping: it grows at once, but becomes lower, or rich again, only after a while in which that
 * would have done. Empty is empty at once.
 */

/** How long a frame keeps its size. */
const HOLD_MS = 60_000;

export class Steady {
	#height = 0;
	/** The most that was needed since the hold began. */
	#needed = 0;
	#until = Number.NEGATIVE_INFINITY;
	#isCompact = false;

	/** The frame jumps anyway, because the terminal has another width. */
	forget(): void {
		this.#height = this.#needed = 0;
		this.#until = Number.NEGATIVE_INFINITY;
		this.#isCompact = false;
	}

	/** Whether a frame has been compact lately. Asked before each frame. */
	isCompact(now: number): boolean {
		if (now >= this.#until) {
			this.#height = this.#needed;
			this.#needed = 0;
			this.#isCompact = false;
			this.#until = now + HOLD_MS;
		}
		return this.#isCompact;
	}

	/** The height to draw, given what the frame is. */
	height(needed: number, isCompact: boolean): number {
		if (needed === 0) this.forget();
		this.#isCompact ||= isCompact;
		this.#needed = Math.max(this.#needed, needed);
		this.#height = Math.max(this.#height, needed);
		return this.#height;
	}
}
