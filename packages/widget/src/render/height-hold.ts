/**
 * Keeps the frame height stable: it grows at once, but shrinks, or becomes rich again, only after a while in which that
 * would have been enough. An empty frame is empty at once.
 */

/** How long a frame keeps its size. */
const HOLD_MS = 60_000;

export class HeightHold {
	#height = 0;
	/** The most that was needed since the hold began. */
	#needed = 0;
	#until = Number.NEGATIVE_INFINITY;
	#isCompact = false;

	/** The terminal has another width, so the frame changes anyway. */
	reset(): void {
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

	/** The height to draw for a frame that needs so many lines. */
	height(needed: number, isCompact: boolean): number {
		if (needed === 0) this.reset();
		this.#isCompact ||= isCompact;
		this.#needed = Math.max(this.#needed, needed);
		this.#height = Math.max(this.#height, needed);
		return this.#height;
	}
}
