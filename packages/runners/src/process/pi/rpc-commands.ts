/** Commands to pi: prompts, steers, model changes. pi may refuse, or an extension may take a prompt. */

import { type Clock, splitModelName } from "@pi-subagents/core";
import { sleep } from "@pi-subagents/core/internal/base";
import type { ThinkingLevel } from "@pi-subagents/progress";
import type { Rpc } from "./rpc.ts";
import { RESTART_COMMAND } from "./tunnel.ts";

/** Why the model was not asked. */
export interface Refusal {
	why: string;
	/** Another model would not help. */
	isForGood: boolean;
}

/** How often, and how long apart, a pi that accepted a task but does not begin is asked about its state. */
const LOOKS = 3;
const LOOK_MS = 2_000;

export class RpcCommands {
	readonly #rpc: Rpc;
	readonly #clock: Clock;
	/** Messages besides the opening, to be repeated after a restart. */
	readonly #told: string[] = [];
	#hasBegun = false;

	constructor(rpc: Rpc, clock: Clock) {
		this.#rpc = rpc;
		this.#clock = clock;
	}

	/** pi has begun its last prompt. */
	begun(): void {
		this.#hasBegun = true;
	}

	/** Resolves when pi has begun, or clearly will not. */
	async prompt(text: string): Promise<Refusal | undefined> {
		this.#hasBegun = false;
		const message = harmless(text);
		const { success, error } = await this.#rpc.request({ type: "prompt", message, streamingBehavior: "steer" });
		if (!success) return { why: error || "pi refused the task.", isForGood: false };
		return (await this.#begins()) ? undefined : { why: TASK_TAKEN, isForGood: true };
	}

	/** Resolves with the error, if there is one. */
	async compact(): Promise<string | undefined> {
		const { success, error } = await this.#rpc.request({ type: "compact" });
		return success ? undefined : error || "pi refused";
	}

	/** This is about to be sent to the child. */
	note(text: string): void {
		this.#told.push(text);
	}

	/** Resolves with the error, if there is one. */
	async steer(text: string): Promise<string | undefined> {
		this.#told.push(text);
		const { success, error } = await this.#rpc.request({ type: "steer", message: harmless(text) });
		return success ? undefined : error;
	}

	/** Rewinds the conversation. Returns the messages to send again. */
	async takeBack(): Promise<string[]> {
		await this.#rpc.request({ type: "prompt", message: `/${RESTART_COMMAND}` });
		return this.#told.splice(0);
	}

	/** Returns why it is not available, if so. */
	async switchModel(name: string, thinking: ThinkingLevel | undefined): Promise<string | undefined> {
		const { provider, id: modelId } = splitModelName(name);
		const { success, error } = await this.#rpc.request({ type: "set_model", provider, modelId });
		if (!success) return error || `Model ${name} is not available.`;
		if (thinking !== undefined) await this.#rpc.request({ type: "set_thinking_level", level: thinking });
		return undefined;
	}

	async isBusy(): Promise<boolean> {
		const { data } = await this.#rpc.request({ type: "get_state" });
		return data.isStreaming === true || data.isCompacting === true;
	}

	/** An extension may handle the prompt itself: then pi never begins. */
	async #begins(): Promise<boolean> {
		for (let look = 0; look < LOOKS; look++) {
			await sleep(LOOK_MS, this.#clock);
			if (this.#hasBegun || (await this.isBusy())) return true;
		}
		return this.#hasBegun;
	}
}

const TASK_TAKEN =
	"An extension took the task, so the agent never began. Exclude that extension in the preset (`exclude_extensions`).";

/** The text is for the model: a leading slash must not run a command or template. */
function harmless(text: string): string {
	return text.startsWith("/") ? ` ${text}` : text;
}
