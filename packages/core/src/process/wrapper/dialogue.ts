/**
 * Asks a child one thing after the other, until its answer stands: its task, what it was told when it had just finished,
 * a better answer, or its task once more with another model. Knows no process.
 */
import type { AssistantText, FallingBack, Outcome } from "@pi-subagents/progress";
import type { RunSpec } from "../../runner.ts";
import type { Sequel } from "../../sequel.ts";
import type { Completion } from "./completion.ts";
import type { Refusal, Speech } from "./speech.ts";
import type { Judge, Turns } from "./turns.ts";

export interface DialogueOptions {
	sequel: Sequel;
	speech: Speech;
	turns: Turns;
	completion: Completion;
	thinking: RunSpec["thinking"];
	/** Nothing may be asked any more. */
	isOver(): boolean;
	/** How the run would end now, and with which message. */
	verdict(): { outcome: Outcome; last: AssistantText | undefined };
	/** The run ends like this. */
	end(judge: Judge): void;
	/** How a run ends that failed for this reason. */
	failed(why: string): Outcome;
	tell(event: FallingBack): void;
}

export class Dialogue {
	readonly #options: DialogueOptions;

	constructor(options: DialogueOptions) {
		this.#options = options;
	}

	async begin(): Promise<void> {
		const { sequel, speech, completion } = this.#options;
		completion.goOn();
		const refusal = await speech.prompt(sequel.opening);
		if (!refusal || refusal.isForGood) this.#accept(refusal);
		else await this.#beginAnew(refusal.why); // no key for its provider, for one
	}

	/** The child has nothing left to do. */
	async finishOrGoOn(): Promise<void> {
		const { sequel, turns, completion, isOver, verdict, end } = this.#options;
		// What comes when the child has just finished is one more thing to do.
		if (turns.hasSteers) return this.#askMore();
		const { outcome, last } = verdict();
		const next = await sequel.after(outcome, last);
		if (isOver() || !completion.hasAnswered) return; // or an extension has given it more to do meanwhile
		switch (next.does) {
			case "settle":
				return turns.hasSteers ? this.#askMore() : end(() => next.outcome);
			case "ask": {
				const judge = await turns.again(next.otherwise);
				return judge ? end(judge) : this.#ask(next.text);
			}
			case "fall_back":
				return this.#beginAnew(next.error);
		}
	}

	/** How it ended, now that it cannot be asked any more. */
	async conclude(): Promise<Outcome> {
		const { sequel, verdict } = this.#options;
		const { outcome, last } = verdict();
		const next = await sequel.after(outcome, last);
		return next.does === "settle" ? next.outcome : next.otherwise;
	}

	/** pi itself does not know the model. The one to start it with instead, if there is one. */
	replaceModel(error: string): string | undefined {
		const { sequel, tell } = this.#options;
		const other = sequel.fallBack(error);
		if (other) tell(other);
		return other?.to;
	}

	async #askMore(): Promise<void> {
		const { speech, turns, completion } = this.#options;
		const more = turns.takeSteers() ?? "";
		completion.goOn();
		this.#accept(await speech.promptMore(more));
	}

	async #ask(text: string): Promise<void> {
		const { speech, completion } = this.#options;
		completion.goOn();
		this.#accept(await speech.prompt(text));
	}

	/** With the next model that can be had, as if nothing had been said to this one. */
	async #beginAnew(error: string): Promise<void> {
		const { sequel, speech, turns, thinking, isOver, end, failed, tell } = this.#options;
		let why = error;
		for (let other = sequel.fallBack(why); other && !isOver(); other = sequel.fallBack(why)) {
			tell(other);
			for (const message of await speech.takeBack()) turns.steer(message);
			const refusal = await speech.switchModel(other.to, thinking);
			if (refusal === undefined) {
				const judge = await turns.again(failed(why));
				return judge ? end(judge) : this.begin();
			}
			why = refusal;
		}
		end(() => failed(why));
	}

	#accept(refusal: Refusal | undefined): void {
		const { end, failed } = this.#options;
		if (refusal) end(() => failed(refusal.why));
	}
}
