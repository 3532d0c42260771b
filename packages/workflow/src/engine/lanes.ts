/** Limits how many calls run at once, in the order in which they came; none while paused. */
export class Lanes {
	readonly #most: number;
	#running = 0;
	#isPaused = false;
	readonly #line: (() => void)[] = [];

	constructor(most: number) {
		this.#most = most;
	}

	async pass<Result>(work: () => Promise<Result>): Promise<Result> {
		if (this.#isPaused || this.#running >= this.#most) await new Promise<void>((go) => void this.#line.push(go));
		else this.#running++;
		try {
			return await work();
		} finally {
			this.#running--;
			this.#fill();
		}
	}

	pause(): void {
		this.#isPaused = true;
	}

	goOn(): void {
		this.#isPaused = false;
		this.#fill();
	}

	#fill(): void {
		while (!this.#isPaused && this.#running < this.#most) {
			const next = this.#line.shift();
			if (!next) return;
			this.#running++;
			next();
		}
	}
}
