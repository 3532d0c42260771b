/**
 * What is decided about a child, whatever channel leads to it: what of its words counts, whether it may continue after
 * a turn, when it must finish, and how its run ends. The session runner and the wrapper of a process drive their child
 * with it. They keep what really differs: how messages reach pi, how it is noticed that the child is idle, and when an
 * outcome is final. A pi session of ours returns from its prompt; a pi process is judged at once, and then ended.
 */
import { type ChildEvent, type CutBy, normalize, type Outcome } from "@pi-subagents/progress";
import { type Clock, steadyClock } from "../base/clock.ts";
import { defined } from "../base/values.ts";
import { FinalMessage } from "../model/final-message.ts";
import { abortedOutcome, outcomeOf } from "../model/outcome.ts";
import type { RunSpec, Stop } from "../model/runner.ts";
import { Verifier } from "../verify/verification.ts";
import { AnswerCheck } from "./answer-check.ts";
import { LiveText } from "./live-text.ts";
import { RetryAfter } from "./retry-after.ts";
import { TurnLimit, wrapUpMessage } from "./turn-limit.ts";

/** The outcome of a run that may not continue. Judged late: the child may still say something. */
export type Judge = (message: FinalMessage) => Outcome;

/** What a checkpoint says: continue, end here, or stop for this reason. One that failed may guard money: nothing passes. */
export type Pass = { word: "go" } | { word: "end" } | { stop: Stop } | { error: string };

export interface DriverOptions {
	clock: Clock;
	/** The program that the child runs inside. */
	around?: readonly string[] | undefined;
	/** The child did this. */
	emit(event: ChildEvent): void;
	/** Whether nothing that the child does counts any more. */
	isDeaf(): boolean;
	/** Whether nothing more may be asked. */
	isOver(): boolean;
	/** How full the child's context is, if that is known. */
	contextPercent(): number | undefined;
	/** Asked before the child continues. Never rejects. */
	pass(): Promise<Pass>;
}

export class Driver {
	readonly answerCheck: AnswerCheck;
	readonly liveText: LiveText;
	readonly retryAfter = new RetryAfter();
	readonly finalMessage = new FinalMessage();
	readonly #verifier: Verifier;
	readonly #limit: TurnLimit;
	readonly #options: DriverOptions;
	/** Unaffected by changes of the time of day. */
	readonly #now: () => number;
	#stirredAt: number | undefined;

	constructor(spec: RunSpec, options: DriverOptions) {
		const { clock, around, isOver } = options;
		this.#options = options;
		this.#now = steadyClock(clock).now;
		this.#limit = new TurnLimit(spec.limits);
		this.#verifier = new Verifier(spec, {
			clock,
			around,
			emit: (event) => {
				if (!isOver()) this.observe(event);
			},
		});
		this.answerCheck = new AnswerCheck(spec, clock, this.#verifier);
		this.liveText = new LiveText(clock);
	}

	/** Hears every event of pi, in order. */
	hear(raw: unknown): void {
		this.liveText.hear(raw);
		for (const event of normalize(raw)) this.observe(this.retryAfter.addTo(event));
	}

	/** A sign of life that is no event: a piece of text or thinking, or of what a tool prints. Costs a timestamp. */
	stir(): void {
		this.#stirredAt = this.#now();
	}

	/** How long ago the last of these was. Undefined if there was none. */
	get quietMs(): number | undefined {
		return this.#stirredAt === undefined ? undefined : this.#now() - this.#stirredAt;
	}

	/** Part of a message that the child is writing. */
	write(delta: string): void {
		this.finalMessage.write(delta);
	}

	observe(event: ChildEvent): void {
		const { isDeaf, contextPercent, emit } = this.#options;
		if (isDeaf()) return;
		this.finalMessage.hear(event);
		this.answerCheck.hear(event);
		emit(event.type === "turn" ? { ...event, ...defined({ contextPercent: contextPercent() }) } : event);
	}

	/** It must finish. Takes effect between two turns: a child that is giving its answer is not asked for it again. */
	hurry(reason?: string, by?: CutBy): void {
		this.#limit.hurry(reason, by);
	}

	/** It was asked to finish. */
	get isWrappingUp(): boolean {
		return this.#limit.isWrappingUp;
	}

	/** What to ask a child that must finish now, without its tools. Undefined if it need not. */
	takeWrapUp(): string | undefined {
		if (this.#limit.verdict !== "wrap_up") return undefined;
		this.#limit.startGrace();
		return wrapUpMessage(this.#limit.reason);
	}

	/** A turn is over, whether or not the child continues. A failed request does not count. */
	countTurn(): void {
		this.#limit.count();
	}

	/** The child would continue after this turn. Resolves with how the run ends if it may not. */
	async afterTurn(): Promise<Judge | undefined> {
		if (this.#limit.verdict !== "end") return this.pass();
		const stop: Stop = { by: "turns", reason: `no answer after ${this.#limit.turns} turns` };
		return stopped(stop);
	}

	/** It has answered and should correct that. Resolves with how the run ends if it may not be asked again. */
	async again(answered: Judge): Promise<Judge | undefined> {
		return this.#limit.verdict === "end" ? answered : this.pass(answered);
	}

	/**
	 * Passes the checkpoint. Resolves with how the run ends if that says so: interim text is not the answer, so a run that
	 * is ended early has failed, with that as its partial text, unless it had answered.
	 */
	async pass(ended: Judge = (message) => message.outcome()): Promise<Judge | undefined> {
		const pass = await this.#options.pass();
		if ("error" in pass) return failed(pass.error);
		if ("stop" in pass) return stopped(pass.stop);
		return pass.word === "end" ? ended : undefined;
	}

	/** How the run would end now. */
	outcome(): Outcome {
		return this.#limit.markCut(this.finalMessage.outcome());
	}

	/** The same, of a run that is stopped: with what the child was writing. */
	stopped(stop: Stop): Outcome {
		return abortedOutcome(stop, this.finalMessage.partial);
	}

	/** Of a run that failed for this reason. */
	failed(error: string): Outcome {
		return failed(error)(this.finalMessage);
	}

	/** Nothing more is checked. Resolves when the command that checks, if any, has ended. */
	stopChecking(): Promise<void> {
		return this.#verifier.stop();
	}
}

function stopped(stop: Stop): Judge {
	return ({ said }) => abortedOutcome(stop, said);
}

/** What the child said stays, as its partial text. */
export function failed(error: string): Judge {
	return ({ said }) => outcomeOf({ type: "assistant_text", text: "", error }, said);
}
