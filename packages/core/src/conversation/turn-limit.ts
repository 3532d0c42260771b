/** Counts a run's turns and decides when it must finish. Pure. */
import type { CutBy, Outcome } from "@pi-subagents/progress";
import { defined } from "../base/values.ts";
import type { Limits } from "../model/schema/spec.ts";

/** `wrap_up`: take away its tools and ask for the answer. `end`: its grace turns are used up. */
export type Verdict = "go" | "wrap_up" | "end";

const GRACE_TURNS = 5;

export class TurnLimit {
	readonly #maxTurns: number;
	readonly #savesWork: boolean;
	#graceTurns: number;
	#turns = 0;
	#isDue = false;
	/** The turn count when it was asked to finish. */
	#wrappedUpAt: number | undefined;
	#reason = "the turn limit is reached";
	#by: CutBy | undefined;

	constructor({ maxTurns = Number.POSITIVE_INFINITY, graceTurns = GRACE_TURNS, wrapUpPercent = 0 }: Limits) {
		// Without grace the last turns of the limit itself are for the answer.
		const kept = graceTurns > 0 || wrapUpPercent <= 0 ? 0 : turnsKept(maxTurns, wrapUpPercent);
		this.#maxTurns = maxTurns - kept;
		this.#graceTurns = graceTurns + kept;
		this.#savesWork = wrapUpPercent > 0;
		if (kept > 0) this.#reason = "the turn limit is close";
	}

	/** It must finish, whatever its count. `by` is the limit that it is close to, if one is. */
	hurry(reason?: string, by?: CutBy): void {
		if (!this.#isDue) {
			this.#reason = reason ?? this.#reason;
			this.#by = by;
			if (by && this.#savesWork) this.#graceTurns = Math.max(1, this.#graceTurns);
		}
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

	/** The outcome, marked if it is the answer of a child that was asked to finish. */
	markCut(outcome: Outcome): Outcome {
		if (outcome.status !== "completed" || this.#wrappedUpAt === undefined) return outcome;
		return { ...outcome, wrappedUp: true, ...defined({ by: this.#by }) };
	}

	/** Why it must finish. */
	get reason(): string {
		return this.#reason;
	}

	get turns(): number {
		return this.#turns;
	}
}

/** At least one, and never all. */
function turnsKept(maxTurns: number, percent: number): number {
	if (!Number.isFinite(maxTurns)) return 0;
	return Math.min(maxTurns - 1, Math.max(1, Math.round((maxTurns * percent) / 100)));
}

/** Asks for the answer, after the tools were taken away. */
export function wrapUpMessage(reason: string): string {
	return [
		`Finish now: ${reason.trim().replace(/[.\s]+$/, "")}.`,
		"Your tools are gone, and your next message is taken as your final answer.",
		"Give the result you have, say plainly what is missing or unchecked, and do not announce further work.",
	].join(" ");
}
