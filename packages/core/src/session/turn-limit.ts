/** Counts a run's turns and says when it must finish. Pure: it knows no session. */
import type { Limits } from "../runner.ts";

/** `wrap_up`: take its tools and ask for the answer. `end`: it had its chance. */
export type Verdict = "go" | "wrap_up" | "end";

const GRACE_TURNS = 5;

export class TurnLimit {
	readonly #maxTurns: number;
	readonly #graceTurns: number;
	#turns = 0;
	#isDue = false;
	/** How many turns it had had when it was asked to finish. */
	#wrappedUpAt: number | undefined;

	constructor({ maxTurns, graceTurns }: Limits) {
		this.#maxTurns = maxTurns ?? Number.POSITIVE_INFINITY;
		this.#graceTurns = graceTurns ?? GRACE_TURNS;
	}

	/** It should finish whatever its count. */
	hurry(): void {
		this.#isDue = true;
	}

	/** One more turn is over. A request that the provider failed is none: it will be asked again. */
	count(): void {
		this.#turns++;
		if (this.#turns >= this.#maxTurns) this.#isDue = true;
	}

	/** What to do with a child that would go on now. */
	get verdict(): Verdict {
		if (!this.#isDue) return "go";
		if (this.#wrappedUpAt === undefined) return this.#graceTurns > 0 ? "wrap_up" : "end";
		return this.#turns - this.#wrappedUpAt >= this.#graceTurns ? "end" : "go";
	}

	/** The child has been asked to finish. */
	startGrace(): void {
		this.#wrappedUpAt ??= this.#turns;
	}

	get isWrappingUp(): boolean {
		return this.#wrappedUpAt !== undefined;
	}

	/** Whether it should finish, asked or not. */
	get isDue(): boolean {
		return this.#isDue;
	}

	get turns(): number {
		return this.#turns;
	}
}
