/**
 * Sets up children a few per turn of the event loop. A hundred set up in one turn would all ask their models at its
 * end; so the first ask while others are set up. One per turn would be too few: each would wake another thread, for
 * example to read a directory.
 */
export class StartupBatcher {
	readonly #waiting: (() => void)[] = [];
	#left = AT_ONCE;

	/** Undefined for the first ones of a turn, which need not wait. */
	take(): Promise<void> | undefined {
		if (this.#left === AT_ONCE) setImmediate(this.#next);
		if (this.#left === 0) return new Promise((go) => this.#waiting.push(go));
		this.#left--;
		return undefined;
	}

	readonly #next = (): void => {
		const going = this.#waiting.splice(0, AT_ONCE);
		this.#left = AT_ONCE - going.length;
		if (going.length > 0) setImmediate(this.#next);
		for (const go of going) go();
	};
}

/** More would delay the first and speed up none. */
const AT_ONCE = 8;
