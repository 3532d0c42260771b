/** What happens between a child's turns: steers, wrapping up, the turn limit, checkpoints. Knows no process. */
import type { Outcome, Usage } from "@pi-subagents/progress";
import { overrun } from "../../budget.ts";
import type { LastWords } from "../../last-words.ts";
import { abortedOutcome, outcomeOf } from "../../outcome.ts";
import type { Limits, Stop } from "../../runner.ts";
import { wrapUpMessage } from "../../session/prompt.ts";
import { TurnLimit } from "../../session/turn-limit.ts";
import type { TunnelRequest, Word } from "../child/tunnel.ts";
import type { PassLine } from "./desk.ts";

/** How a run ended that was not let go on. */
export type Judge = (words: LastWords) => Outcome;

export interface TurnsOptions {
	limits: Limits;
	/** Called when other limits than before count, since whoever watches granted more. */
	onGranted: (limits: Limits) => void;
	/** What whoever watches says; undefined without anybody. */
	checkpoint: () => Promise<PassLine | undefined>;
	/** What the run has used so far. */
	usage: () => Usage;
	/** Resolves when pi has the message; the child reads it before its next turn. */
	steer: (text: string) => Promise<void>;
}

export class Turns {
	readonly #options: TurnsOptions;
	readonly #limit: TurnLimit;
	/** What the child was told and has not been given yet. */
	readonly #steers: string[] = [];
	#limits: Limits;
	#wrapUpReason = "the turn limit is reached";
	#isRetry = false;

	constructor(options: TurnsOptions) {
		this.#options = options;
		this.#limits = options.limits;
		this.#limit = new TurnLimit(options.limits);
	}

	get isWrappingUp(): boolean {
		return this.#limit.isWrappingUp;
	}

	get hasSteers(): boolean {
		return this.#steers.length > 0;
	}

	steer(message: string): void {
		this.#steers.push(message);
	}

	/** Takes effect between two turns: a child that is just giving its answer is not asked for it again. */
	wrapUp(reason: string | undefined): void {
		if (reason !== undefined && !this.#limit.isDue) this.#wrapUpReason = reason;
		this.#limit.hurry();
	}

	/** The request that comes next repeats a failed one. */
	retry(): void {
		this.#isRetry = true;
	}

	/** All that was said at once, or a wish to wrap up would wait in line behind other messages, one turn for each. */
	takeSteers(): string | undefined {
		return this.#steers.length === 0 ? undefined : this.#steers.splice(0).join("\n\n");
	}

	/** Whether the child would be asked again after this turn. */
	goesOn(request: TunnelRequest & { ask: "turn_end" }): boolean {
		return request.goesOn || this.#steers.length > 0;
	}

	/** A prompt begins. */
	begin(): Promise<Word> {
		return this.#tell();
	}

	/** The loop begins. Returns how the run ends, if it may not. */
	async loop(): Promise<Judge | undefined> {
		if (!this.#isRetry) return undefined;
		this.#isRetry = false;
		return this.#pass();
	}

	/** A turn is over. Returns how the run ends, if the child may not go on. */
	async afterTurn(request: TunnelRequest & { ask: "turn_end" }): Promise<Word | Judge> {
		this.#limit.count();
		if (!this.goesOn(request)) return "go";
		if (this.#limit.verdict === "end") {
			return stoppedBy({ by: "turns", reason: `no answer after ${this.#limit.turns} turns` });
		}
		return (await this.#pass()) ?? this.#tell();
	}

	/** It has answered and should mend that. Returns how the run ends, if it may not be asked again. */
	async again(answered: Outcome): Promise<Judge | undefined> {
		return this.#limit.verdict === "end" ? () => answered : this.#pass(() => answered);
	}

	async #pass(ended: Judge = (words) => words.outcome()): Promise<Judge | undefined> {
		const { checkpoint, usage } = this.#options;
		const pass = await checkpoint();
		if (!pass) {
			// Nobody is left who could grant more.
			const over = overrun(usage(), this.#limits);
			return over && stoppedBy({ by: "budget", reason: `it used ${over.used}` });
		}
		this.#adopt(pass.limits);
		// A checkpoint that fails may guard money, so nothing passes it.
		const { error, word } = pass;
		if (error !== undefined) return ({ said }) => outcomeOf({ type: "assistant_text", text: "", error }, said);
		// What a child says on the way is not its answer: ended early, the run has failed, with that as its partial text.
		return word === "end" ? ended : undefined;
	}

	/** Only budgets are ever extended. */
	#adopt({ budgetTokens, budgetCost }: Limits = {}): void {
		const before = this.#limits;
		this.#limits = {
			...before,
			...(budgetTokens === undefined ? {} : { budgetTokens }),
			...(budgetCost === undefined ? {} : { budgetCost }),
		};
		const isOther = before.budgetTokens !== this.#limits.budgetTokens || before.budgetCost !== this.#limits.budgetCost;
		if (isOther) this.#options.onGranted(this.#limits);
	}

	async #tell(): Promise<Word> {
		const isDue = this.#limit.verdict === "wrap_up";
		if (isDue) {
			this.#limit.startGrace();
			this.#steers.push(wrapUpMessage(this.#wrapUpReason));
		}
		const text = this.takeSteers();
		if (text !== undefined) await this.#options.steer(text);
		return isDue ? "wrap_up" : "go";
	}
}

function stoppedBy(stop: Stop): Judge {
	return ({ said }) => abortedOutcome(stop, said);
}
