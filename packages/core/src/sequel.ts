/**
 * What comes after a child has answered: its answer stands, it is asked once more, or it begins anew with another model.
 * The same for every runner; it knows no session and no process.
 */
import type { AssistantText, ChildEvent, Failed, FallingBack, Outcome } from "@pi-subagents/progress";
import type { Clock } from "./clock.ts";
import { judgeAnswer } from "./output/judge.ts";
import { outputInstruction, repairMessage } from "./output/words.ts";
import { isRateLimit } from "./rate-gate-text.ts";
import type { RunSpec } from "./runner.ts";

/** It is kept with the agent, and some providers send a whole page. */
const MOST_ERROR = 500;

export type Next =
	/** This is how the run ends. */
	| { does: "settle"; outcome: Outcome }
	/** It is asked this; `otherwise` is how the run ends if it may not be asked again. */
	| { does: "ask"; text: string; otherwise: Outcome }
	/** The provider failed before anything was done: the next model may do better. */
	| { does: "fall_back"; error: string; otherwise: Outcome };

export class Sequel {
	/** What the child is asked first. */
	readonly opening: string;
	readonly #output: RunSpec["output"];
	readonly #clock: Clock;
	readonly #others: string[];
	#model: string;
	#repairs: number;
	/** It has used a tool or answered, so it cannot begin anew as if nothing had happened. */
	#hasBegun = false;

	constructor({ task, output, model, fallbackModels = [] }: RunSpec, clock: Clock) {
		this.opening = output ? `${task}\n\n${outputInstruction(output.schema)}` : task;
		this.#output = output;
		this.#clock = clock;
		this.#model = model;
		this.#others = [...fallbackModels];
		this.#repairs = output?.repairs ?? 0;
	}

	hear(event: ChildEvent): void {
		if (event.type === "tool_call") this.#hasBegun = true;
		if (event.type === "assistant_text" && event.stopReason !== "error" && event.stopReason !== "aborted") {
			this.#hasBegun = true;
		}
	}

	/** `last` is the child's last message. Never rejects. */
	async after(outcome: Outcome, last: AssistantText | undefined): Promise<Next> {
		if (outcome.status === "failed" && last && this.#canFallBack && isProviderError(last))
			return { does: "fall_back", error: outcome.error, otherwise: outcome };
		const { checked, repair } = isSilent(outcome, last)
			? { checked: outcome, repair: this.#output && repairMessage({ error: outcome.error, validationErrors: [] }) }
			: await checkAnswer(outcome, this.#output, this.#clock);
		if (repair === undefined || this.#repairs <= 0) return { does: "settle", outcome: checked };
		this.#repairs--;
		return { does: "ask", text: repair, otherwise: checked };
	}

	/** The present model cannot be used. The event says which one comes instead; undefined if there is none. */
	fallBack(error: string): FallingBack | undefined {
		const to = this.#canFallBack ? this.#others.shift() : undefined;
		if (to === undefined) return undefined;
		const from = this.#model;
		this.#model = to;
		return { type: "falling_back", from, to, error: error.slice(0, MOST_ERROR) };
	}

	get #canFallBack(): boolean {
		return !this.#hasBegun && this.#others.length > 0;
	}
}

/** It stopped by itself and said nothing at all. */
function isSilent(outcome: Outcome, last: AssistantText | undefined): outcome is Failed {
	return outcome.status === "failed" && last?.stopReason === "stop" && last.text.trim() === "";
}

/** What an outcome is once its answer was held against its schema, and how the child is asked for a better one, if it may help. */
export async function checkAnswer(
	outcome: Outcome,
	output: RunSpec["output"],
	clock: Clock,
): Promise<{ checked: Outcome; repair?: string }> {
	if (outcome.status !== "completed" || !output) return { checked: outcome };
	const { result, isMendable } = await judgeAnswer(outcome.text, output.schema, { clock });
	if (result.ok) return { checked: { ...outcome, structured: result } };
	const { text: partialText } = outcome;
	const checked: Outcome = { status: "failed", error: result.error, partialText, structured: result };
	return isMendable ? { checked, repair: repairMessage(result) } : { checked };
}

const MOST_READ = 2_000;

/** What another model would fail with as well is no reason to ask it. */
function isProviderError({ stopReason, error = "" }: AssistantText): boolean {
	const beginning = error.slice(0, MOST_READ);
	if (stopReason !== "error" || STOPPED.test(beginning)) return false;
	return isRateLimit(beginning) || !TOO_LONG.test(beginning); // one may be about too many tokens, but not in one message
}

/** As providers say it. Not every limit that was exceeded is one on the length: a quota of one model leaves others. */
const TOO_LONG =
	/\b(?:prompt|input)\b.{0,60}\btoo (?:long|large)|request[_ ](?:is )?too[_ ]large|(?:context|prompt|input)[_ ](?:length|window|size)|token count|model token limit|token limit exceeded|too many tokens|reduce the length/i;

/** pi says so of a request that was stopped between two turns. */
const STOPPED = /\boperation was aborted\b/i;
