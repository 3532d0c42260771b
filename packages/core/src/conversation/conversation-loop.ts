/**
 * What a child is asked until its answer is accepted: its task, messages that arrived after it had finished, a better
 * answer, or its task again with another model. The same for every runner: what differs is behind `ChildChannel`.
 */
import type { FallingBack } from "@pi-subagents/progress";
import { untilStopped } from "../base/timeouts.ts";
import { type Driver, failed, type Judge } from "./driver.ts";

interface ChildChannel {
	/** Whether the child still has nothing to do: an extension may give it something while its answer is checked. */
	isIdle(): boolean;
	/** A message that the idle child has not been given yet. It is given again after a restart. */
	takeMessage(): string | undefined;
	/** Removes everything the child was asked, and switches to this model. Resolves with why it could not. */
	restartWith(model: string): Promise<string | undefined>;
}

export interface ConversationOptions {
	driver: Driver;
	channel: ChildChannel;
	/** Fires when the run is stopped: then nothing is asked any more. */
	signal?: AbortSignal;
	/** Whether nothing more may be asked. */
	isOver(): boolean;
	/** The run ends with this. */
	end(judge: Judge): void;
	emit(event: FallingBack): void;
}

/** What the user reads if the conversation could not be compacted before the task. */
export function notCompacted(why: string): string {
	return `The earlier conversation could not be compacted (${why}). The agent continues with all of it.`;
}

export class ConversationLoop {
	readonly #options: ConversationOptions;

	constructor(options: ConversationOptions) {
		this.#options = options;
	}

	/** What the child is asked first. */
	get opening(): string {
		return this.#options.driver.answerCheck.opening;
	}

	/** The child is idle. Resolves with what to ask it; undefined when the run has ended. */
	async next(): Promise<string | undefined> {
		const { driver, channel, signal, isOver, end } = this.#options;
		if (isOver()) return undefined;
		const message = channel.takeMessage();
		if (message !== undefined) return message;
		const checking = driver.answerCheck.after(driver.outcome(), driver.finalMessage.last);
		const next = await (signal ? untilStopped(checking, signal) : checking);
		if (!next || isOver() || !channel.isIdle()) return undefined;
		switch (next.does) {
			case "settle": {
				const late = channel.takeMessage(); // arrived while the answer was being checked
				if (late === undefined) end(() => next.outcome);
				return late;
			}
			case "ask":
				return (await this.#mayGoOn(() => next.otherwise)) ? next.text : undefined;
			case "fall_back":
				return this.restart(next.error);
		}
	}

	/** Begins again with the next model that can be used. Resolves with what to ask it; undefined when the run has ended. */
	async restart(error: string): Promise<string | undefined> {
		const { driver, channel, isOver, end, emit } = this.#options;
		const { answerCheck } = driver;
		let why = error;
		for (let other = answerCheck.fallBack(why); other && !isOver(); other = answerCheck.fallBack(why)) {
			emit(other);
			const refusal = await channel.restartWith(other.to);
			if (refusal === undefined) return (await this.#mayGoOn(failed(why))) ? this.opening : undefined;
			why = refusal;
		}
		end(failed(why));
		return undefined;
	}

	/** Whether the child may be asked again. If not, the run has ended; with `otherwise` unless something else ended it. */
	async #mayGoOn(otherwise: Judge): Promise<boolean> {
		const { driver, end } = this.#options;
		const ended = await driver.again(otherwise);
		if (ended) end(ended);
		return !ended;
	}
}
