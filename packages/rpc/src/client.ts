/** The client's side: typed calls, and waiting that survives a server which is replaced. */
import { type AskOptions, ask, RpcError } from "./ask.ts";
import { type Bus, listen } from "./bus.ts";
import { type LifecycleEvent, type LifecycleEvents, lifecycleChannels } from "./lifecycle.ts";
import type { Outcome } from "./outcome.ts";
import {
	type AgentInfo,
	type Method,
	type Replies,
	type Requests,
	type ServerInfo,
	type SpawnOptions,
	serverIn,
} from "./protocol.ts";
import { createWaits, outcomeIn } from "./waits.ts";

/** What to launch, and how. */
export interface SpawnRequest extends SpawnOptions {
	/** The name of a preset. */
	type: string;
	prompt: string;
}

/** A server of sub-agents. Calls reject with an `RpcError` when the server refuses or does not answer in time. */
export interface Subagents {
	/** Who answers now. */
	readonly server: ServerInfo;
	/** Launches an agent and returns at once. `signal` stops it. */
	spawn(request: SpawnRequest): Promise<{ id: string }>;
	/**
	 * Resolves with how the agent settled, at once if it has. `signal` gives up waiting and leaves the agent alone. Where
	 * the server only knows version 2, agents that settled before we connected cannot be waited for.
	 */
	wait<Data = unknown>(id: string, options?: { signal?: AbortSignal }): Promise<Outcome<Data>>;
	/** How a settled agent ended. Rejects while it has not. */
	result<Data = unknown>(id: string): Promise<Outcome<Data>>;
	status(id: string): Promise<AgentInfo>;
	/** All agents of the session, those that agents launched included. */
	list(): Promise<AgentInfo[]>;
	/** Gives a running agent another instruction. */
	steer(id: string, message: string): Promise<void>;
	stop(id: string): Promise<void>;
	/** The result has been shown: the session is not told of it. In time within 200 ms after the agent has settled. */
	consume(id: string): Promise<void>;
	/** Hears of an event until the function that it returns is called. */
	on<Event extends LifecycleEvent>(event: Event, handler: (payload: LifecycleEvents[Event]) => void): () => void;
	/** Stops listening. What is still being waited for rejects. */
	close(): void;
}

export function createClient(bus: Bus, first: ServerInfo, timeoutMs: number): Subagents {
	const listeners = new Set<() => void>();
	const questions = new Set<(error: unknown) => void>();
	let closed: RpcError | undefined;
	let server = first;
	const can = (method: Method) => server.capabilities?.includes(method) ?? false;
	const call = async <M extends Method>(method: M, request: Requests[M], options: AskOptions = { timeoutMs }) => {
		if (closed) throw closed;
		return ask(bus, method, request, { ...options, open: questions });
	};
	const beyond = async <M extends Method>(method: M, request: Requests[M]): Promise<Replies[M]> => {
		if (can(method)) return call(method, request);
		throw new RpcError("unsupported", `The server (version ${server.version}) does not offer "${method}".`);
	};
	const hear = (event: LifecycleEvent, handler: (payload: never) => void): (() => void) => {
		const stop = listen(bus, lifecycleChannels[event], handler as (payload: unknown) => void);
		const leave = () => {
			listeners.delete(leave);
			stop();
		};
		listeners.add(leave);
		return leave;
	};
	const waits = createWaits({
		hear,
		canAsk: () => can("wait"),
		ask: (agentId, signal) => call("wait", { agentId }, { signal }),
		/** Another server may be there now, or the same one with a session. */
		async meet() {
			server = serverIn(await call("ping", {})) ?? server;
		},
	});
	return {
		get server() {
			return server;
		},
		spawn: ({ type, prompt, ...options }) => call("spawn", { type, prompt, options }),
		async wait<Data>(id: string, { signal }: { signal?: AbortSignal } = {}) {
			if (closed) throw closed;
			return (await waits.wait(id, signal)) as Outcome<Data>;
		},
		result: async <Data>(agentId: string) => outcomeIn(await beyond("result", { agentId }), agentId) as Outcome<Data>,
		status: (agentId) => beyond("status", { agentId }),
		list: () => beyond("list", {}),
		steer: (agentId, message) => beyond("steer", { agentId, message }),
		stop: (agentId) => call("stop", { agentId }),
		consume: (agentId) => call("consume", { agentId }),
		on: hear,
		close() {
			closed ??= new RpcError("closed", "The connection was closed.");
			for (const leave of listeners) leave();
			waits.close(closed);
			for (const fail of questions) fail(closed);
		},
	};
}
