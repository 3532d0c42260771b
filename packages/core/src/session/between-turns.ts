/** Stands between a child's turns: says what happens before its model is asked again. Knows how pi's loop is hooked. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";

/** None of these may throw. */
export interface BetweenTurns {
	/** A turn is over, whether the child goes on or not. A failed request is none. */
	count(): void;
	/** The child would go on after this turn. `end` makes it the last. */
	afterTurn(): Promise<"go" | "end">;
	/** A failed request is about to be made again. */
	beforeRetry(): Promise<void>;
	/** Whether no request may be made any more. */
	isOver(): boolean;
}

/** Must be called before the session is prompted. Returns the way to stop listening. */
export function standBetweenTurns(session: AgentSession, rules: BetweenTurns): () => void {
	const state: LoopState = { wantsMore: false, isRetry: false };
	const unsubscribe = session.subscribe((event) => follow(state, event));
	const { agent } = session;
	const { finishTurn, prepareRequest, streamFunction } = agent;
	// pi looks for a stop between its steps, not before each request; a summary, for one, would still be asked for.
	agent.streamFunction = (...request) => {
		if (rules.isOver()) throw new Error("The agent has been stopped.");
		return streamFunction(...request);
	};
	// Before 0.87 pi had no such place; then only the end of a turn is seen, and nothing can be waited for.
	if (!finishTurn) return both(unsubscribe, watchTurns(session, state, rules));
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

function watchTurns(session: AgentSession, state: LoopState, rules: BetweenTurns): () => void {
	return session.subscribe((event) => {
		if (event.type !== "turn_end" || isFailed(event.message)) return;
		rules.count();
		if (!state.wantsMore && !session.agent.hasQueuedMessages()) return;
		void rules.afterTurn().then((word) => (word === "end" ? session.abort() : undefined));
	});
}

function isFailed(message: { role: string; stopReason?: string }): boolean {
	return message.stopReason === "error" || message.stopReason === "aborted";
}

function both(one: () => void, other: () => void): () => void {
	return () => {
		one();
		other();
	};
}
