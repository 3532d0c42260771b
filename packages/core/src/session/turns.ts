/**
 * Lets those who come at once go one after the other, each in a turn of the event loop of its own. A hundred children that
 * were all set up in one turn would all ask their models at its end; so the first is asked while others are set up.
 */
export class Turns {
	readonly #waiting: (() => void)[] = [];
	#isTaken = false;

	/** Nothing to wait for, for the first in a turn. */
	take(): Promise<void> | undefined {
		if (this.#isTaken) return new Promise((go) => this.#waiting.push(go));
		this.#isTaken = true;
		setImmediate(this.#next);
		return undefined;
	}

	readonly #next = (): void => {
		const go = this.#waiting.shift();
		this.#isTaken = go !== undefined;
		if (!go) return;
		go();
		setImmediate(this.#next);
	};
}
