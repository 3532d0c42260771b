/**
 * Observes providers' responses, including failed ones. pi reports a response only after it succeeded: with SDK
 * providers (OpenAI, Anthropic and compatible ones) a refusal becomes an error first, and its headers are lost.
 * Node's `fetch` publishes what it receives on diagnostics channels, so nothing has to be put between pi and the
 * network. With another `fetch`, such as Bun's, nothing is observed.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ProviderResponse } from "./retry-after.ts";

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

/** For several users in one process: each sees only the responses to its own requests. */
export class SharedTap {
	readonly #listeners = new AsyncLocalStorage<OnResponse>();
	#users = 0;
	#close = (): void => undefined;

	/** Nothing is observed until it is opened. Returns a function that closes it. */
	open(): () => void {
		if (this.#users++ === 0) this.#close = tapResponses(() => this.#listeners.getStore());
		return () => {
			if (--this.#users === 0) this.#close();
		};
	}

	/** Runs the work. The listener gets the responses to all requests made by it. */
	during<T>(listener: OnResponse, work: () => T): T {
		return this.#listeners.run(listener, work);
	}
}
