/** What happens between a child's turns: steers, wrap-up, turn limit, checkpoints. Knows no process. */
import type { CutBy, Outcome, Usage } from "@pi-subagents/progress";
import { defined } from "../../base/values.ts";
import { TurnLimit, wrapUpMessage } from "../../conversation/turn-limit.ts";
import { nearBudget, overrun } from "../../model/budget.ts";
import { type NearLimit, nearTimeout } from "../../model/deadlines.ts";
import type { FinalMessage } from "../../model/final-message.ts";
import { abortedOutcome, outcomeOf } from "../../model/outcome.ts";
import type { Stop } from "../../model/runner.ts";
import type { Limits } from "../../model/schema/spec.ts";
import { NO_USAGE, usageSince } from "../../model/usage.ts";
import type { TunnelRequest, TurnReply } from "../pi/tunnel.ts";
import type { PassLine } from "./pending-requests.ts";

/** The outcome of a run that may not continue. */
export type OutcomeOf = (message: FinalMessage) => Outcome;

export interface TurnControlOptions {
	limits: Limits;
	/** Called when the watcher granted more. */
	onGranted: (limits: Limits) => void;
	/** The watcher's reply; undefined without a watcher. */
	checkpoint: () => Promise<PassLine | undefined>;
	/** Waits as long as the provider asked for. A watcher does that for all its agents together. */
	rest: () => Promise<void>;
	/** What the run has used so far. */
	usage: () => Usage;
	/** How long it has been running. */
	elapsedMs: () => number;
	/** Resolves when pi has the message; the child reads it before its next turn. */
	steer: (text: string) => Promise<void>;
}

export class TurnControl {
	readonly #options: TurnControlOptions;
	readonly #limit: TurnLimit;
	/** Messages that the child has not been given yet. */
	readonly #steers: string[] = [];
	#limits: Limits;
	#isRetry = false;
	/** When the last turn began, and what had been used then. */
	#turnBegan = { elapsedMs: 0, usage: NO_USAGE };

	constructor(options: TurnControlOptions) {
		this.#options = options;
		this.#limits = options.limits;
		this.#limit = new TurnLimit(options.limits);
	}

	markCut(outcome: Outcome): Outcome {
		return this.#limit.markCut(outcome);
	}

	steer(message: string): void {
		this.#steers.push(message);
	}

	/** Takes effect between two turns: a child that is giving its answer is not asked for it again. */
	wrapUp(reason: string | undefined, by?: CutBy): void {
		this.#limit.hurry(reason, by);
	}

	/** The next request repeats a failed one. */
	retry(): void {
		this.#isRetry = true;
	}

	/** All messages at once: otherwise a wrap-up would wait behind the others, one turn for each. */
	takeSteers(): string | undefined {
		return this.#steers.length === 0 ? undefined : this.#steers.splice(0).join("\n\n");
	}

	/** Whether the child would be asked again after this turn. */
	goesOn(request: TunnelRequest & { ask: "turn_end" }): boolean {
		return request.goesOn || this.#steers.length > 0;
	}

	/** A prompt begins. */
	begin(): Promise<TurnReply> {
		return this.#steerNow();
	}

	/** The loop begins. Returns how the run ends if it may not continue. */
	async loop(): Promise<OutcomeOf | undefined> {
		if (!this.#isRetry) return undefined;
		this.#isRetry = false;
		return this.#pass();
	}

	/** A turn is over. Returns how the run ends if the child may not continue. */
	async afterTurn(request: TunnelRequest & { ask: "turn_end" }): Promise<TurnReply | OutcomeOf> {
		this.#limit.count();
		if (!this.goesOn(request)) return "go";
		if (this.#limit.verdict === "end") {
			return stoppedBy({ by: "turns", reason: `no answer after ${this.#limit.turns} turns` });
		}
		const word = (await this.#pass()) ?? (await this.#steerNow());
		this.#turnBegan = { elapsedMs: this.#options.elapsedMs(), usage: this.#options.usage() };
		return word;
	}

	/** It has answered and should correct that. Returns how the run ends if it may not be asked again. */
	async again(answered: Outcome): Promise<OutcomeOf | undefined> {
		return this.#limit.verdict === "end" ? () => answered : this.#pass(() => answered);
	}

	async #pass(ended: OutcomeOf = (message) => message.outcome()): Promise<OutcomeOf | undefined> {
		const { checkpoint, elapsedMs, rest } = this.#options;
		const took = elapsedMs() - this.#turnBegan.elapsedMs;
		const pass = await checkpoint();
		if (!pass) await rest();
		this.#hurryNear(nearTimeout(this.#limits, { elapsedMs: elapsedMs(), turnMs: took }));
		if (!pass) return this.#passAlone();
		this.#adopt(pass.limits);
		// A failed checkpoint may guard money, so nothing passes it.
		const { error, word } = pass;
		if (error !== undefined) return ({ said }) => outcomeOf({ type: "assistant_text", text: "", error }, said);
		// Interim text is not the answer: ended early, the run has failed, with that as its partial text.
		return word === "end" ? ended : undefined;
	}

	/** No one is left to grant more. A run that leapt beyond its budget still has a turn for its answer. */
	#passAlone(): OutcomeOf | undefined {
		const usage = this.#options.usage();
		const over = overrun(usage, this.#limits);
		const near = nearBudget(usage, usageSince(this.#turnBegan.usage, usage), this.#limits);
		if (over && (!near || this.#limit.isWrappingUp)) return stoppedBy({ by: "budget", reason: `it used ${over.used}` });
		this.#hurryNear(near);
		return undefined;
	}

	#hurryNear(near: NearLimit | undefined): void {
		if (near) this.#limit.hurry(near.reason, near.by);
	}

	/** Only budgets are ever extended. */
	#adopt({ budgetTokens, budgetCost }: Limits = {}): void {
		const before = this.#limits;
		this.#limits = { ...before, ...defined({ budgetTokens, budgetCost }) };
		const isOther = before.budgetTokens !== this.#limits.budgetTokens || before.budgetCost !== this.#limits.budgetCost;
		if (isOther) this.#options.onGranted(this.#limits);
	}

	async #steerNow(): Promise<TurnReply> {
		const isDue = this.#limit.verdict === "wrap_up";
		if (isDue) {
			this.#limit.startGrace();
			this.#steers.push(wrapUpMessage(this.#limit.reason));
		}
		const text = this.takeSteers();
		if (text !== undefined) await this.#options.steer(text);
		return isDue ? "wrap_up" : "go";
	}
}

function stoppedBy(stop: Stop): OutcomeOf {
	return ({ said }) => abortedOutcome(stop, said);
}
