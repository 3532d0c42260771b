/**
 * Decides what follows a child's answer: it is accepted, the child is asked again, or the task restarts with another
 * model. The same for every runner; knows no session and no process.
 */
import type { AssistantText, ChildEvent, Completed, Failed, FallingBack, Outcome } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import type { RunSpec } from "../model/runner.ts";
import { judgeAnswer } from "../output/check-answer.ts";
import { outputInstruction, repairMessage } from "../output/repair-text.ts";
import { keepValidator } from "../output/validate.ts";
import { isRateLimit } from "../queue/retry-hint.ts";
import type { Verifier } from "../verify/verification.ts";

/** Stored with the agent, and some providers send a whole page. */
const MAX_ERROR = 500;

export type Next =
	/** The run ends with this. */
	| { does: "settle"; outcome: Outcome }
	/** Ask the child this; `otherwise` is the outcome if it may not be asked again. */
	| { does: "ask"; text: string; otherwise: Outcome }
	/** The provider failed before the child did anything: another model may work. */
	| { does: "fall_back"; error: string; otherwise: Outcome };

export class AnswerCheck {
	/** What the child is asked first. */
	readonly opening: string;
	readonly #output: RunSpec["output"];
	readonly #clock: Clock;
	readonly #others: string[];
	#model: string;
	#repairs: number;
	readonly #verifier: Pick<Verifier, "check"> | undefined;
	#verifyRepairs: number;
	/** It has used a tool or answered, so it cannot restart as if nothing had happened. */
	#hasBegun = false;

	/** Without a verifier, nothing is verified. */
	constructor(spec: RunSpec, clock: Clock, verifier?: Pick<Verifier, "check">) {
		const { task, output, model, fallbackModels = [], verify } = spec;
		if (output || (verify && "schema" in verify)) keepValidator();
		this.opening = output ? `${task}\n\n${outputInstruction(output.schema)}` : task;
		this.#output = output;
		this.#clock = clock;
		this.#model = model;
		this.#others = [...fallbackModels];
		this.#repairs = output?.repairs ?? 0;
		this.#verifier = verifier;
		this.#verifyRepairs = verify && "repairs" in verify ? verify.repairs : 0;
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
		if (checked.status === "completed" && this.#verifier) return this.#verify(checked, this.#verifier);
		if (repair === undefined || this.#repairs <= 0) return { does: "settle", outcome: checked };
		this.#repairs--;
		return { does: "ask", text: repair, otherwise: checked };
	}

	async #verify(completed: Completed, verifier: Pick<Verifier, "check">): Promise<Next> {
		const { outcome, repair } = await verifier.check(completed);
		// One that was asked to finish has no tools left to fix anything with.
		if (repair === undefined || this.#verifyRepairs <= 0 || completed.wrappedUp) return { does: "settle", outcome };
		this.#verifyRepairs--;
		return { does: "ask", text: repair, otherwise: outcome };
	}

	/** The current model cannot be used. Returns which one replaces it; undefined if there is none. */
	fallBack(error: string): FallingBack | undefined {
		const to = this.#canFallBack ? this.#others.shift() : undefined;
		if (to === undefined) return undefined;
		const from = this.#model;
		this.#model = to;
		return { type: "falling_back", from, to, error: error.slice(0, MAX_ERROR) };
	}

	get #canFallBack(): boolean {
		return !this.#hasBegun && this.#others.length > 0;
	}
}

/** It stopped normally and said nothing at all. */
function isSilent(outcome: Outcome, last: AssistantText | undefined): outcome is Failed {
	return outcome.status === "failed" && last?.stopReason === "stop" && last.text.trim() === "";
}

/** Checks the answer against its schema. `repair` is the message that asks for a better one, if that may help. */
export async function checkAnswer(
	outcome: Outcome,
	output: RunSpec["output"],
	clock: Clock,
): Promise<{ checked: Outcome; repair?: string }> {
	if (outcome.status !== "completed" || !output) return { checked: outcome };
	const { result, canRepair } = await judgeAnswer(outcome.text, output.schema, { clock });
	if (result.ok) return { checked: { ...outcome, structured: result } };
	const { text: partialText } = outcome;
	const checked: Outcome = { status: "failed", error: result.error, partialText, structured: result };
	return canRepair ? { checked, repair: repairMessage(result) } : { checked };
}

const MAX_READ = 2_000;

/** Errors that another model would repeat are no reason to try one. */
function isProviderError({ stopReason, error = "" }: AssistantText): boolean {
	const beginning = error.slice(0, MAX_READ);
	if (stopReason !== "error" || STOPPED.test(beginning)) return false;
	return isRateLimit(beginning) || !TOO_LONG.test(beginning); // a rate limit may mention tokens, but not those of one message
}

/** In the providers' words. Not every exceeded limit is about length: a quota of one model leaves others. */
const TOO_LONG =
	/\b(?:prompt|input)\b.{0,60}\btoo (?:long|large)|request[_ ](?:is )?too[_ ]large|(?:context|prompt|input)[_ ](?:length|window|size)|token count|model token limit|token limit exceeded|too many tokens|reduce the length/i;

/** pi's message for a request that was stopped between two turns. */
const STOPPED = /\boperation was aborted\b/i;
