/**
 * How our entry inside a child's pi talks with the wrapper outside: it opens an input dialog, whose title is the request
 * and whose value is the reply. pi's RPC mode carries dialogs as lines of JSON, and a handler that waits for one holds
 * pi's loop. Everything is decided in the wrapper.
 */
import type { Answer, Question } from "../../asking.ts";

export type TunnelRequest =
	/** A prompt is about to begin; tools may still be taken from it. */
	| { ask: "begin" }
	/** The loop begins, perhaps once more after a failed request. */
	| { ask: "loop" }
	/** A turn is over that did not fail. `goesOn`: the model would be asked again. */
	| { ask: "turn_end"; goesOn: boolean; contextPercent?: number }
	/** The model asks. */
	| { ask: "question"; question: Question };

/** `wrap_up`: first take all tools away. Whoever must not go on gets no reply at all. */
export type Word = "go" | "wrap_up";

/** Where the directory of the run's files is told to the child's pi. */
export const RUN_DIR_VARIABLE = "PI_SUBAGENTS_RUN_DIR";

/** Lets the child forget what it was last asked, so that another model can begin with it. */
export const ANEW_COMMAND = "subagent-anew";

const TAG = "pi-subagents:";

export function titleOf(request: TunnelRequest): string {
	return TAG + JSON.stringify(request);
}

/** Undefined for a dialog that is not ours. */
export function requestIn(title: unknown): TunnelRequest | undefined {
	if (typeof title !== "string" || !title.startsWith(TAG)) return undefined;
	const request = parse(title.slice(TAG.length));
	switch (request?.ask) {
		case "begin":
		case "loop":
			return { ask: request.ask };
		case "turn_end": {
			const { goesOn, contextPercent } = request;
			return {
				ask: "turn_end",
				goesOn: goesOn === true,
				...(typeof contextPercent === "number" ? { contextPercent } : {}),
			};
		}
		case "question": {
			const question = questionIn(request.question);
			return question && { ask: "question", question };
		}
		default:
			return undefined;
	}
}

export function wordIn(value: string | undefined): Word {
	return value === "wrap_up" ? "wrap_up" : "go"; // a dialog that was cancelled says nothing against going on
}

export function answerIn(value: string | undefined): Answer {
	const answer = value === undefined ? undefined : parse(value);
	if (typeof answer?.text !== "string") return { by: "nobody" };
	const { by, text } = answer;
	return by === "agent" || by === "session" || by === "user" || by === "default" ? { by, text } : { by: "nobody" };
}

function questionIn(value: unknown): Question | undefined {
	const { question, context, defaultAnswer, timeoutMs }: Record<string, unknown> = Object(value);
	if (typeof question !== "string") return undefined;
	return {
		question,
		...(typeof context === "string" ? { context } : {}),
		...(typeof defaultAnswer === "string" ? { defaultAnswer } : {}),
		...(typeof timeoutMs === "number" && timeoutMs > 0 ? { timeoutMs } : {}),
	};
}

function parse(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}
