/** Lets only so many through at a time; the others wait in line. Pure. */
export class Turnstile {
	#free: number;
	readonly #line: (() => void)[] = [];

	constructor(most: number) {
		this.#free = most;
	}

	async pass<Result>(work: () => Promise<Result>): Promise<Result> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((resolve) => void this.#line.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.#line.shift();
			if (next) next();
			else this.#free++;
		}
	}
}
