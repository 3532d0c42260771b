/**
 * Waiting without sleeping: checks a condition now and after every change, until it holds or the time is up.
 */

/** How long tests wait for something that should happen. Long, because machines can be loaded. */
export const DEFAULT_WAIT_MS = 30_000;

/** A promise that the test resolves, for `Reply.gate`. */
export interface Gate extends Promise<void> {
	open(): void;
}

export function createGate(): Gate {
	let open = () => {};
	const promise = new Promise<void>((resolve) => {
		open = resolve;
	});
	return Object.assign(promise, { open: () => open() });
}

interface Waiter {
	look(): void;
	fail(reason: string): void;
}

export interface WaitOptions {
	readonly timeoutMs?: number;
	/** For the error: what was expected and what there is instead. Called only on failure. */
	readonly describe: () => string;
}

/** The waiters on one changing object: a log, a screen, a process. */
export class Signal {
	readonly #waiters = new Set<Waiter>();
	#ended: string | undefined;

	/** Resolves with the first value of `look` that is not undefined. */
	waitFor<T>(look: () => T | undefined, options: WaitOptions): Promise<T> {
		const timeoutMs = options.timeoutMs ?? DEFAULT_WAIT_MS;
		return new Promise<T>((resolve, reject) => {
			const settle = () => {
				clearTimeout(timer);
				this.#waiters.delete(waiter);
			};
			const waiter: Waiter = {
				look: () => {
					try {
						const value = look();
						if (value === undefined) return;
						settle();
						resolve(value);
					} catch (error) {
						settle();
						reject(error);
					}
				},
				fail: (reason) => {
					settle();
					reject(new Error(`${reason}\n${options.describe()}`));
				},
			};
			const timer = setTimeout(() => waiter.fail(`Gave up after ${timeoutMs} ms`), timeoutMs);
			this.#waiters.add(waiter);
			waiter.look();
			if (this.#ended !== undefined && this.#waiters.has(waiter)) waiter.fail(this.#ended);
		});
	}

	/** Something changed. */
	changed(): void {
		for (const waiter of [...this.#waiters]) waiter.look();
	}

	/** Nothing will change any more: open waits fail now, and so do later ones whose condition does not hold. */
	end(reason: string): void {
		this.changed();
		this.#ended ??= reason;
		for (const waiter of [...this.#waiters]) waiter.fail(reason);
	}
}
