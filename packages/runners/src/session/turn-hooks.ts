/** Hooks into pi's loop between a child's turns, before its model is asked again. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import type { ProviderResponse } from "@pi-subagents/core/internal/run";
import { countAsAgent } from "../providers/initiator.ts";
import type { TappedRequest } from "../providers/response-tap.ts";

/** None of these may throw. */
export interface TurnHooks {
	/** A turn is over, whether or not the child continues. A failed request does not count. */
	count(): void;
	/** The child would continue after this turn. `end` makes it the last. */
	afterTurn(): Promise<"go" | "end">;
	/** A failed request is about to be repeated. */
	beforeRetry(): Promise<void>;
	/** Whether no more requests may be made. */
	isOver(): boolean;
	/** Makes a request, with these options added to its own. */
	whileAsking<T>(request: TappedRequest, ask: (options: { fetch?: typeof fetch }) => T): T;
	/** pi reports a provider's response. Of failures it reports only some. */
	onResponse(response: ProviderResponse): void;
}

/** Call before the session is prompted. Returns a function that stops listening. */
export function hookTurns(session: AgentSession, rules: TurnHooks): () => void {
	const { agent } = session;
	const { finishTurn, prepareRequest, streamFunction, onResponse } = agent;
	if (!finishTurn) throw new Error("Agents need pi 0.87 or newer to obey limits.");
	const state: LoopState = { wantsMore: false, isRetry: false };
	const unsubscribe = session.subscribe((event) => follow(state, event));
	agent.onResponse = (response, model) => {
		rules.onResponse(response);
		return onResponse?.(response, model);
	};
	// pi checks for a stop between its steps, not before each request: a summary would still be requested.
	agent.streamFunction = (model, context, options) => {
		if (rules.isOver()) throw new Error("The agent has been stopped.");
		const headers = { ...options?.headers };
		countAsAgent(model.provider, headers);
		return rules.whileAsking({ api: model.api, fetch: options?.fetch }, (own) =>
			streamFunction(model, context, { ...options, headers, ...own }),
		);
	};
	agent.finishTurn = async (turn, signal) => {
		const decision = (await finishTurn(turn, signal)) ?? undefined;
		const wantsMore = state.wantsMore || decision?.action === "continue";
		state.wantsMore = false;
		if (isFailed(turn.message)) return decision;
		rules.count();
		if (decision?.action === "end" || !(wantsMore || agent.hasQueuedMessages())) return decision;
		return (await rules.afterTurn()) === "end" ? { action: "end" } : decision;
	};
	agent.prepareRequest = async (request, signal) => {
		const isRetry = state.isRetry;
		state.isRetry = false;
		if (isRetry) await rules.beforeRetry();
		return (await prepareRequest?.(request, signal)) ?? undefined;
	};
	return unsubscribe;
}

interface LoopState {
	/** A tool of this turn has a result that the model should read. */
	wantsMore: boolean;
	/** The next request repeats a failed one. */
	isRetry: boolean;
}

function follow(state: LoopState, event: AgentSessionEvent): void {
	if (event.type === "turn_start") state.wantsMore = false;
	if (event.type === "tool_execution_end" && event.result?.terminate !== true) state.wantsMore = true;
	if (event.type === "auto_retry_start") state.isRetry = true;
}

function isFailed(message: { role: string; stopReason?: string }): boolean {
	return message.stopReason === "error" || message.stopReason === "aborted";
}
