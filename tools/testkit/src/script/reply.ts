/**
 * What a scripted model answers. One vocabulary for the in-process model and for the HTTP server,
 * so a conversation written for one runs on the other.
 */
import type { RequestView } from "./request.ts";

/** A tool call in a reply. Without an id one is made from the request's number. */
export interface ToolCallReply {
	readonly name: string;
	readonly args: Readonly<Record<string, unknown>>;
	readonly id?: string;
}

/** Token counts; `input` excludes what came from or went to the cache. */
export interface ReplyUsage {
	readonly input: number;
	readonly output: number;
	readonly cacheRead?: number;
	readonly cacheWrite?: number;
	/** What the provider says it charged, as OpenRouter does. Server only. */
	readonly cost?: number;
}

/**
 * What goes wrong between the model and pi. The in-process model has no wire: there `hang` waits for the abort
 * and the others become the error message that pi shows for them.
 */
export type Fault =
	/** An answer with this status instead of a stream. A body that is not a string is sent as JSON. */
	| {
			readonly kind: "http";
			readonly status: number;
			readonly body?: unknown;
			readonly headers?: Record<string, string>;
	  }
	/** Nothing is ever answered; ends when the client leaves or the server closes. */
	| { readonly kind: "hang" }
	/** The socket is destroyed after this many chunks. */
	| { readonly kind: "cut"; readonly afterChunks: number }
	/** These bytes are sent in place of the event stream. */
	| { readonly kind: "garbage"; readonly data: string };

/** One answer of the model. Everything is optional: `{}` is an empty answer. */
export interface Reply {
	readonly text?: string;
	readonly thinking?: string;
	readonly toolCalls?: readonly ToolCallReply[];
	/** The model refuses with this message, in a way that pi does not retry. */
	readonly error?: string;
	/** Default: `toolUse` if there are tool calls, else `stop`. */
	readonly stopReason?: "stop" | "length" | "toolUse";
	/** Default: a rough estimate from the length of the text. */
	readonly usage?: ReplyUsage;
	/** The answer waits for this promise: a delay that the test controls. */
	readonly gate?: Promise<unknown>;
	/** How many chunks are sent before the gate. Default 0: not even the headers. Server only. */
	readonly chunksBeforeGate?: number;
	/** Characters per chunk. Server only. Default 32, and more for what would be more than 100 chunks. */
	readonly chunkSize?: number;
	/** Pause before each chunk. Server only; prefer a gate. */
	readonly chunkDelayMs?: number;
	readonly fault?: Fault;
}

/** What may go with any of the builders below. */
export type ReplyOptions = Omit<Reply, "text" | "toolCalls" | "error" | "fault">;

/** The model answers with a text. */
export function say(text: string, options: ReplyOptions = {}): Reply {
	return { ...options, text };
}

/** The model calls one tool. */
export function callTool(
	name: string,
	args: Readonly<Record<string, unknown>> = {},
	options: ReplyOptions = {},
): Reply {
	return { ...options, toolCalls: [{ name, args }] };
}

/** The model calls several tools in one message. */
export function callTools(...replies: readonly Reply[]): Reply {
	return { toolCalls: replies.flatMap((reply) => reply.toolCalls ?? []) };
}

/** The model refuses with a message; not retried by pi. */
export function fail(message: string, options: ReplyOptions = {}): Reply {
	return { ...options, error: message };
}

/** The endpoint answers with an HTTP status. */
export function httpError(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
	return { fault: { kind: "http", status, body, headers } };
}

/** 429 with Retry-After. */
export function rateLimited(options: { readonly retryAfterSeconds: number }): Reply {
	const body = { error: { message: "Rate limit reached", type: "rate_limit_error" } };
	return httpError(429, body, { "retry-after": String(options.retryAfterSeconds) });
}

/** Never answers. */
export function hang(): Reply {
	return { fault: { kind: "hang" } };
}

/** The connection breaks in the middle of the answer. */
export function cutOff(reply: Reply, options: { readonly afterChunks: number }): Reply {
	return { ...reply, fault: { kind: "cut", afterChunks: options.afterChunks } };
}

/** An event stream that is none. */
export function garbage(data = 'data: {"choices": [\n\ndata: [DONE]\n\n'): Reply {
	return { fault: { kind: "garbage", data } };
}

/** The token counts of a reply; if it has none, about four characters per token, as pi estimates. */
export function usageOf(reply: Reply, request: RequestView): ReplyUsage {
	if (reply.usage) return reply.usage;
	const asked = request.systemPrompt.length + request.messages.reduce((sum, message) => sum + message.text.length, 0);
	const answered = [reply.thinking ?? "", reply.text ?? "", JSON.stringify(reply.toolCalls ?? "")].join("");
	return { input: Math.ceil(asked / 4), output: Math.ceil(answered.length / 4) };
}
