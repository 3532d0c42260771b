/**
 * Drives a conversation with a child in its own pi process. There a prompt returns when pi has begun, and `Completion`
 * says when the child is idle. Knows no process.
 */

import type { RunSpec } from "@pi-subagents/core";
import { ConversationLoop, type ConversationOptions, failed, notCompacted } from "@pi-subagents/core/internal/run";
import type { Outcome } from "@pi-subagents/progress";
import type { RpcCommands } from "../pi/rpc-commands.ts";
import type { Completion } from "./completion.ts";
import type { TurnControl } from "./turns.ts";

export interface DialogueOptions extends Omit<ConversationOptions, "channel" | "signal"> {
	commands: RpcCommands;
	turns: TurnControl;
	completion: Completion;
	/** The run's spec. */
	spec: Pick<RunSpec, "thinking" | "compactsFirst">;
	/** Tells the user. */
	notice(text: string): void;
}

export class Dialogue {
	readonly #options: DialogueOptions;
	readonly #loop: ConversationLoop;

	constructor(options: DialogueOptions) {
		this.#options = options;
		const { commands, turns, completion, spec } = options;
		this.#loop = new ConversationLoop({
			...options,
			channel: {
				isIdle: () => completion.hasAnswered,
				takeMessage() {
					const text = turns.takeSteers();
					if (text !== undefined) commands.note(text);
					return text;
				},
				async restartWith(model) {
					for (const message of await commands.takeBack()) turns.steer(message);
					return commands.switchModel(model, spec.thinking);
				},
			},
		});
	}

	async begin(): Promise<void> {
		const { commands, spec, notice, isOver } = this.#options;
		const why = spec.compactsFirst ? await commands.compact() : undefined;
		if (isOver()) return;
		if (why !== undefined) notice(notCompacted(why));
		await this.#prompt(this.#loop.opening);
	}

	/** The child is idle. */
	async finishOrGoOn(): Promise<void> {
		const text = await this.#loop.next();
		if (text !== undefined) await this.#prompt(text);
	}

	/** The outcome, now that the child cannot be asked any more. */
	async conclude(): Promise<Outcome> {
		const { driver } = this.#options;
		const next = await driver.answerCheck.after(driver.outcome(), driver.finalMessage.last);
		return next.does === "settle" ? next.outcome : next.otherwise;
	}

	/** pi does not know the model. Returns the one to start it with instead, if there is one. */
	replaceModel(error: string): string | undefined {
		const { driver, emit } = this.#options;
		const other = driver.answerCheck.fallBack(error);
		if (other) emit(other);
		return other?.to;
	}

	async #prompt(text: string): Promise<void> {
		const { commands, completion, end } = this.#options;
		completion.goOn();
		const refusal = await commands.prompt(text);
		if (!refusal) return;
		if (refusal.isForGood || text !== this.#loop.opening) return end(failed(refusal.why));
		const again = await this.#loop.restart(refusal.why); // no key for its provider, for example
		if (again !== undefined) await this.#prompt(again);
	}
}
