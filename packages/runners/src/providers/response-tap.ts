/**
 * Observes providers' responses, including failed ones. pi reports a response only after it succeeded: with SDK
 * providers (OpenAI, Anthropic and compatible ones) a refusal becomes an error first, and its headers are lost.
 * Most of pi's adapters take a `fetch` for each request, which hears its own responses. For the others Node's `fetch`
 * publishes what it receives on diagnostics channels; with another one, such as Bun's, nothing is observed there.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ProviderResponse } from "@pi-subagents/core/internal/run";

export type OnResponse = (response: ProviderResponse) => void;

/** The parts of the channel messages that matter here. None of it is documented, so nothing is assumed. */
interface Message {
	request?: object & { method?: unknown };
	response?: { statusCode?: unknown; headers?: unknown };
}

const CREATED = "undici:request:create";
const HEADERS = "undici:request:headers";

/**
 * Calls `listenerFor` once per request of this process, in the request's async context, to get the listener for its
 * response. Neither may throw. Returns a function that stops.
 */
export function tapResponses(listenerFor: (request: { method: string }) => OnResponse | undefined): () => void {
	const listeners = new WeakMap<object, OnResponse>();
	const created = (message: unknown): void => {
		const { request } = message as Message;
		if (!request) return;
		const listener = listenerFor({ method: typeof request.method === "string" ? request.method : "" });
		if (listener) listeners.set(request, listener);
	};
	const received = (message: unknown): void => {
		const { request, response } = message as Message;
		const listener = request && listeners.get(request);
		if (!listener || typeof response?.statusCode !== "number") return;
		listener({ status: response.statusCode, headers: headersIn(response.headers) });
	};
	subscribe(CREATED, created);
	subscribe(HEADERS, received);
	return () => {
		unsubscribe(CREATED, created);
		unsubscribe(HEADERS, received);
	};
}

/** Names and values alternate, as bytes. The first of several values counts. */
function headersIn(raw: unknown): Record<string, string> {
	const headers: Record<string, string> = {};
	if (!Array.isArray(raw)) return headers;
	for (let at = 0; at + 1 < raw.length; at += 2) headers[String(raw[at]).toLowerCase()] ??= String(raw[at + 1]);
	return headers;
}

type Fetch = typeof globalThis.fetch;

/** pi's adapters that take a `fetch`. Others refuse one or would not use it. */
const TAKE_FETCH: ReadonlySet<string> = new Set([
	"anthropic-messages",
	"azure-openai-responses",
	"mistral-conversations",
	"openai-codex-responses",
	"openai-completions",
	"openai-responses",
	"pi-messages",
]);

/** A request: the adapter that makes it, and the `fetch` that its options have already. */
export interface TappedRequest {
	api: string;
	fetch?: Fetch | undefined;
}

/** For several users in one process: each sees only the responses to its own requests. */
export class SharedTap {
	/** Once used, it slows down every promise of the process: only for adapters that take no `fetch`. */
	readonly #listeners = new AsyncLocalStorage<OnResponse>();
	#users = 0;
	#close: (() => void) | undefined;

	/** Call the returned function when no more requests are made. */
	open(): () => void {
		this.#users++;
		return () => {
			if (--this.#users > 0) return;
			this.#close?.();
			this.#close = undefined;
			this.#listeners.disable();
		};
	}

	/** Makes a request, with these options added to its own. The listener gets the responses to it. */
	during<T>(listener: OnResponse, { api, fetch }: TappedRequest, ask: (options: { fetch?: Fetch }) => T): T {
		if (TAKE_FETCH.has(api)) return ask({ fetch: heardBy(listener, fetch) });
		if (this.#users > 0) this.#close ??= tapResponses(() => this.#listeners.getStore());
		return this.#listeners.run(listener, () => ask({}));
	}
}

function heardBy(listener: OnResponse, given: Fetch | undefined): Fetch {
	return async (input, init) => {
		const response = await (given ?? globalThis.fetch)(input, init);
		const { status, headers } = response;
		listener({ status, headers: status < 400 ? {} : Object.fromEntries(headers) });
		return response;
	};
}
