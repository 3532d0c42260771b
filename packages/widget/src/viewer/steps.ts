/** Does things in their order, each as soon as what it lacks has been read. What lacks nothing is done at once. */
import type { Missing } from "./scroll.ts";

/** Returns the entry that it lacks, if any; then it is done again when that was read. */
export type Step = () => Missing | undefined;

export interface StepsOptions {
	/** Resolves with whether the entry is here now. */
	load: (index: number) => Promise<boolean>;
	/** A step has been done, or cannot be. */
	onDone: () => void;
	/** What cannot be read: the steps that wait are dropped. */
	onTrouble: (error: unknown) => void;
}

export class Steps {
	readonly #options: StepsOptions;
	#waiting: Step[] = [];
	#isBusy = false;
	#isClosed = false;

	constructor(options: StepsOptions) {
		this.#options = options;
	}

	/** Whether something waits for what is being read. */
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
			this.#options.onTrouble(error);
		} finally {
			this.#isBusy = false;
		}
	}
}
