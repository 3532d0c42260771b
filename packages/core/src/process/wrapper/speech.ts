/** What is said to pi: tasks, steers, another model. Knows that pi may refuse, or let somebody else take what was said. */
import type { Clock } from "../../clock.ts";
import { splitModelName } from "../../models.ts";
import type { ThinkingLevel } from "../../runner.ts";
import { ANEW_COMMAND } from "../child/tunnel.ts";
import type { Rpc } from "./rpc.ts";

/** Why the model was not even asked. */
export interface Refusal {
	why: string;
	/** No other model would be asked, either. */
	isForGood: boolean;
}

/** How often, and after how long each time, a pi that took a task and does not begin is asked what it does. */
const LOOKS = 3;
const LOOK_MS = 2_000;

export class Speech {
	readonly #rpc: Rpc;
	readonly #clock: Clock;
	/** What the child was told beside what it was asked first. */
	readonly #told: string[] = [];
	#hasBegun = false;

	constructor(rpc: Rpc, clock: Clock) {
		this.#rpc = rpc;
		this.#clock = clock;
	}

	/** pi has begun with what it was last asked to do. */
	begun(): void {
		this.#hasBegun = true;
	}

	/** Resolves when pi has begun, or when it is clear that it will not. */
	async prompt(text: string): Promise<Refusal | undefined> {
		this.#hasBegun = false;
		const message = harmless(text);
		const { success, error } = await this.#rpc.request({ type: "prompt", message, streamingBehavior: "steer" });
		if (!success) return { why: error || "pi refused the task.", isForGood: false };
		return (await this.#begins()) ? undefined : { why: TASK_TAKEN, isForGood: true };
	}

	/** One more thing to do. */
	promptMore(text: string): Promise<Refusal | undefined> {
		this.#told.push(text);
		return this.prompt(text);
	}

	/** Resolves with what went wrong, if something did. */
	async steer(text: string): Promise<string | undefined> {
		this.#told.push(text);
		const { success, error } = await this.#rpc.request({ type: "steer", message: harmless(text) });
		return success ? undefined : error;
	}

	/** Takes back all that the child was asked and told. Returns what it was told, to be told again. */
	async takeBack(): Promise<string[]> {
		await this.#rpc.request({ type: "prompt", message: `/${ANEW_COMMAND}` });
		return this.#told.splice(0);
	}

	/** Returns why it cannot be had, if it cannot. */
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

	/** Another extension may take what the child is asked as its own business: then pi never begins. */
	async #begins(): Promise<boolean> {
		for (let look = 0; look < LOOKS; look++) {
			await new Promise<void>((resolve) => void this.#clock.after(LOOK_MS, resolve));
			if (this.#hasBegun || (await this.isBusy())) return true;
		}
		return this.#hasBegun;
	}
}

const TASK_TAKEN =
	"An extension took the task, so the agent never began. Exclude that extension in the preset (`exclude_extensions`).";

/** The text is for the model: a leading slash must not run a command or a template. */
function harmless(text: string): string {
	return text.startsWith("/") ? ` ${text}` : text;
}
