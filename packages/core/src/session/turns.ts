/**
 * Lets those who come at once go a few in each turn of the event loop. A hundred children that were all set up in one turn
 * would all ask their models at its end; so the first are asked while others are set up. One in each turn would be too few:
 * what each then asks of other threads, such as to look into a directory, would wake one of them every time.
 */
export class Turns {
	readonly #waiting: (() => void)[] = [];
	#left = AT_ONCE;

	/** Nothing to wait for, for the first in a turn. */
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

/** With more, the first waits longer, and nobody is quicker. */
const AT_ONCE = 8;
