/** Counts a run's turns and decides when it must finish. Pure. */
import type { Limits } from "../model/runner.ts";

/** `wrap_up`: take away its tools and ask for the answer. `end`: its grace turns are used up. */
export type Verdict = "go" | "wrap_up" | "end";

const GRACE_TURNS = 5;

export class TurnLimit {
	readonly #maxTurns: number;
	readonly #graceTurns: number;
	#turns = 0;
	#isDue = false;
	/** The turn count when it was asked to finish. */
	#wrappedUpAt: number | undefined;

	constructor({ maxTurns, graceTurns }: Limits) {
		this.#maxTurns = maxTurns ?? Number.POSITIVE_INFINITY;
		this.#graceTurns = graceTurns ?? GRACE_TURNS;
	}

	/** It must finish, whatever its count. */
	hurry(): void {
		this.#isDue = true;
	}

	/** A turn is over. A request that the provider failed does not count: it will be repeated. */
	count(): void {
		this.#turns++;
		if (this.#turns >= this.#maxTurns) this.#isDue = true;
	}

	/** What to do with a child that is about to continue. */
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

	/** Whether it must finish, whether or not it was asked to. */
	get isDue(): boolean {
		return this.#isDue;
	}

	get turns(): number {
		return this.#turns;
	}
}

/** Asks for the answer, after the tools were taken away. */
export function wrapUpMessage(reason: string): string {
	return [
		`Finish now: ${reason.trim().replace(/[.\s]+$/, "")}.`,
		"Your tools are gone, and your next message is taken as your final answer.",
		"Give the result you have, say plainly what is missing or unchecked, and do not announce further work.",
	].join(" ");
}
