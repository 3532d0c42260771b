/**
 * Rules: which request gets which reply. They look at the request only, never at the order of arrival,
 * so that children that run in parallel always get the same answers (`once` is the one exception).
 */
import type { Reply } from "./reply.ts";
import { describeRequest, type RequestView } from "./request.ts";

/** A reply, or undefined if the rule does not apply. */
export type Rule = (request: RequestView) => Reply | undefined;

export type RequestPredicate = (request: RequestView) => boolean;

/** A reply, or how to make it from the request. */
export type ReplySource = Reply | ((request: RequestView) => Reply);

/** The first rule that applies answers; if none does, the model fails with a description of the request. */
export function answer(rules: readonly Rule[], request: RequestView): Reply {
	try {
		for (const rule of rules) {
			const reply = rule(request);
			if (reply) return reply;
		}
	} catch (error) {
		return { error: `A rule of the test threw ${String(error)} at ${describeRequest(request)}` };
	}
	return { error: `No rule of the test matches ${describeRequest(request)}` };
}

/**
 * Whenever the condition holds. A tool call under a condition that still holds when its result comes back
 * repeats for ever: use `converse`, or add `onTurn`.
 */
export function when(condition: RequestPredicate, reply: ReplySource): Rule {
	return (request) => (condition(request) ? replyFrom(reply, request) : undefined);
}

/** A conversation: the n-th reply is for the n-th turn after the user message, after which the rule ends. */
export function converse(condition: RequestPredicate, ...replies: readonly ReplySource[]): Rule {
	return (request) => {
		const reply = replies[request.turn - 1];
		return reply && condition(request) ? replyFrom(reply, request) : undefined;
	};
}

/** For every request that no earlier rule answered. */
export function otherwise(reply: ReplySource): Rule {
	return (request) => replyFrom(reply, request);
}

/** Applies only once; for failures that a retry recovers from. */
export function once(rule: Rule): Rule {
	let used = false;
	return (request) => {
		const reply = used ? undefined : rule(request);
		used ||= reply !== undefined;
		return reply;
	};
}

/** The last user message says this, in whichever turn after it. */
export function lastUserSays(pattern: string | RegExp): RequestPredicate {
	return (request) => matches(request.lastUserText, pattern);
}

/** This request brings back a result of the tool. */
export function toolReturned(name: string, pattern: string | RegExp = ""): RequestPredicate {
	return (request) => request.lastToolResults.some((result) => result.name === name && matches(result.text, pattern));
}

export function systemPromptSays(pattern: string | RegExp): RequestPredicate {
	return (request) => matches(request.systemPrompt, pattern);
}

export function offersTool(name: string): RequestPredicate {
	return (request) => request.tools.some((tool) => tool.name === name);
}

export function modelIs(id: string): RequestPredicate {
	return (request) => request.model === id;
}

export function onTurn(turn: number): RequestPredicate {
	return (request) => request.turn === turn;
}

export function all(...conditions: readonly RequestPredicate[]): RequestPredicate {
	return (request) => conditions.every((condition) => condition(request));
}

function replyFrom(source: ReplySource, request: RequestView): Reply {
	return typeof source === "function" ? source(request) : source;
}

function matches(text: string, pattern: string | RegExp): boolean {
	// `search` ignores the state of a /g pattern.
	return typeof pattern === "string" ? text.includes(pattern) : text.search(pattern) >= 0;
}
