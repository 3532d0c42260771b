/**
 * How our extension inside a child's pi talks to the wrapper: it opens an input dialog whose title is the request and
 * whose value is the reply. pi's RPC mode transports dialogs as JSON lines, and a handler that awaits one pauses pi's
 * loop. The wrapper makes all decisions.
 */

import type { Answer, Question } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { WHY_UNANSWERED } from "@pi-subagents/core/internal/run";

export type TunnelRequest =
	/** A prompt is about to begin; its tools can still be removed. */
	| { ask: "begin" }
	/** The loop begins, perhaps again after a failed request. */
	| { ask: "loop" }
	/** A turn succeeded. `goesOn`: the model would be asked again. */
	| { ask: "turn_end"; goesOn: boolean; contextPercent?: number }
	/** The model asks. */
	| { ask: "question"; question: Question };

/** `wrap_up`: remove all tools first. A child that must stop gets no reply at all. */
export type TurnReply = "go" | "wrap_up";

/** Names the parent directory of all runs, if there is one. */
export const RUNS_DIR_VARIABLE = "PI_SUBAGENTS_RUNS_DIR";

/** Rewinds the child's conversation, so that another model can begin. */
export const RESTART_COMMAND = "subagent-anew";

const TAG = "pi-subagents:";

/** A notice without a reply. */
export type TunnelNotice =
	/** How long the provider wants a pause. */
	| { retryAfterMs: number }
	/** Why the child cannot begin. */
	| { failed: string };

export function noticeMessage(word: TunnelNotice): string {
	return TAG + JSON.stringify(word);
}

/** Undefined for a message that is not ours. */
export function parseNotice(message: unknown): TunnelNotice | undefined {
	if (typeof message !== "string" || !message.startsWith(TAG)) return undefined;
	const { retryAfterMs, failed } = parse(message.slice(TAG.length)) ?? {};
	if (typeof failed === "string") return { failed };
	return typeof retryAfterMs === "number" ? { retryAfterMs } : undefined;
}

export function requestTitle(request: TunnelRequest): string {
	return TAG + JSON.stringify(request);
}

/** Undefined for a dialog that is not ours. */
export function parseRequest(title: unknown): TunnelRequest | undefined {
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

export function parseReply(value: string | undefined): TurnReply {
	return value === "wrap_up" ? "wrap_up" : "go"; // a cancelled dialog is no objection
}

export function parseAnswer(value: string | undefined): Answer {
	const answer = value === undefined ? undefined : parse(value);
	const why = WHY_UNANSWERED.find((each) => each === answer?.why);
	const nobody = { by: "nobody" as const, ...defined({ why }) };
	if (typeof answer?.text !== "string") return nobody;
	const { by, text } = answer;
	if (by === "default") return { by, text, ...defined({ why }) };
	return by === "agent" || by === "session" || by === "user" ? { by, text } : nobody;
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
