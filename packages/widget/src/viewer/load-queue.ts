/** Runs steps in order, loading missing entries first. A step that needs nothing runs at once. */
import type { Missing } from "./scroll.ts";

/** Returns a missing entry, if any; the step runs again once it is loaded. */
export type Step = () => Missing | undefined;

export interface LoadQueueOptions {
	/** Resolves with whether the entry is loaded now. */
	load: (index: number) => Promise<boolean>;
	/** A step ran, or cannot run. */
	onDone: () => void;
	/** A read failed; the waiting steps were dropped. */
	onError: (error: unknown) => void;
}

export class LoadQueue {
	readonly #options: LoadQueueOptions;
	#waiting: Step[] = [];
	#isBusy = false;
	#isClosed = false;

	constructor(options: LoadQueueOptions) {
		this.#options = options;
	}

	/** Whether a step is waiting for a read. */
	get isBusy(): boolean {
		return this.#isBusy;
	}

	add(step: Step): void {
		this.#waiting.push(step);
		if (!this.#isBusy) void this.#work();
	}

	close(): void {
		this.#isClosed = true;
	}

	async #work(): Promise<void> {
		this.#isBusy = true;
		try {
			for (let step = this.#waiting[0]; step && !this.#isClosed; step = this.#waiting[0]) {
				const lacking = step();
				if (lacking && (await this.#options.load(lacking.missing))) continue;
				this.#waiting.shift();
				this.#options.onDone();
			}
		} catch (error) {
			this.#waiting = [];
			this.#options.onError(error);
		} finally {
			this.#isBusy = false;
		}
	}
}
