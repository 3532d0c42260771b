/** The client: typed calls, and waits that survive the replacement of the server. */
import { type AskOptions, ask, RpcError } from "./ask.ts";
import { type Bus, listen } from "./bus.ts";
import { type LifecycleEvent, type LifecycleEvents, lifecycleChannels } from "./lifecycle.ts";
import type { Outcome } from "./outcome.ts";
import {
	type AgentDefinition,
	type AgentInfo,
	type Cost,
	type Method,
	parseServerInfo,
	type Replies,
	type Requests,
	type ServerInfo,
	type SpawnOptions,
	type WorkflowRequest,
} from "./protocol.ts";
import { createWaits, parseOutcome } from "./waits.ts";

/** The agent to start. */
export interface SpawnRequest extends SpawnOptions {
	/** The name of a preset. */
	type: string;
	prompt: string;
}

/** A server of sub-agents. Calls reject with an `RpcError` when the server refuses or does not answer in time. */
export interface Subagents {
	/** The current server. */
	readonly server: ServerInfo;
	/** Starts an agent and returns at once. `signal` stops it. */
	spawn(request: SpawnRequest): Promise<{ id: string }>;
	/**
	 * Runs a workflow script and returns at once; `wait` with its id brings what it returned. `signal` stops it and its
	 * agents.
	 */
	workflow(request: WorkflowRequest): Promise<{ id: string }>;
	/**
	 * Resolves with the outcome of the agent, at once if it has settled. `signal` stops waiting, not the agent. With a server
	 * of version 2, agents that settled before we connected cannot be waited for.
	 */
	wait<Data = unknown>(id: string, options?: { signal?: AbortSignal }): Promise<Outcome<Data>>;
	/** The outcome of a settled agent. Rejects while it is running. */
	result<Data = unknown>(id: string): Promise<Outcome<Data>>;
	status(id: string): Promise<AgentInfo>;
	/** All agents of the session, including those started by agents. */
	list(): Promise<AgentInfo[]>;
	/** What an agent and those below it cost; all agents of the session without an id. */
	cost(id?: string): Promise<Cost>;
	/** Sends a running agent another instruction. */
	steer(id: string, message: string): Promise<void>;
	stop(id: string): Promise<void>;
	/**
	 * Adds presets for as long as the session is open, or until `dispose` is called. The user's files of the same names
	 * count instead of them, unless they are `exclusive`: then only they and the built-in presets exist.
	 */
	registerAgents(
		agents: readonly AgentDefinition[],
		options?: { exclusive?: boolean },
	): Promise<{ count: number; exclusive: boolean; dispose(): Promise<void> }>;
	/**
	 * Marks the result as shown, so that the session is not notified. Must come within 200 ms after the agent has settled,
	 * or while the session is still busy.
	 */
	consume(id: string): Promise<void>;
	/** Calls the handler for an event until the returned function is called. */
	on<Event extends LifecycleEvent>(event: Event, handler: (payload: LifecycleEvents[Event]) => void): () => void;
	/** Stops listening. Open calls and waits reject. */
	close(): void;
}

export function createClient(bus: Bus, first: ServerInfo, timeoutMs: number): Subagents {
	const listeners = new Set<() => void>();
	const openRequests = new Set<(error: unknown) => void>();
	let closed: RpcError | undefined;
	let server = first;
	const can = (method: Method) => server.capabilities?.includes(method) ?? false;
	const call = async <M extends Method>(method: M, request: Requests[M], options: AskOptions = { timeoutMs }) => {
		if (closed) throw closed;
		return ask(bus, method, request, { ...options, open: openRequests });
	};
	const callOptional = async <M extends Method>(method: M, request: Requests[M]): Promise<Replies[M]> => {
		if (can(method)) return call(method, request);
		throw new RpcError("unsupported", `The server (version ${server.version}) does not offer "${method}".`);
	};
	const subscribe = (event: LifecycleEvent, handler: (payload: never) => void): (() => void) => {
		const stop = listen(bus, lifecycleChannels[event], handler as (payload: unknown) => void);
		const unsubscribe = () => {
			listeners.delete(unsubscribe);
			stop();
		};
		listeners.add(unsubscribe);
		return unsubscribe;
	};
	const waits = createWaits({
		subscribe,
		canAsk: () => can("wait"),
		ask: (agentId, signal) => call("wait", { agentId }, { signal }),
		/** There may be another server now, or the same one with a session. */
		async refreshServer() {
			server = parseServerInfo(await call("ping", {})) ?? server;
		},
	});
	return {
		get server() {
			return server;
		},
		spawn: ({ type, prompt, ...options }) => call("spawn", { type, prompt, options }),
		workflow: (request) => callOptional("workflow", request),
		async wait<Data>(id: string, { signal }: { signal?: AbortSignal } = {}) {
			if (closed) throw closed;
			return (await waits.wait(id, signal)) as Outcome<Data>;
		},
		result: async <Data>(agentId: string) =>
			parseOutcome(await callOptional("result", { agentId }), agentId) as Outcome<Data>,
		status: (agentId) => callOptional("status", { agentId }),
		list: () => callOptional("list", {}),
		cost: (agentId) => callOptional("cost", agentId === undefined ? {} : { agentId }),
		steer: (agentId, message) => callOptional("steer", { agentId, message }),
		async registerAgents(agents, { exclusive = false } = {}) {
			const owner = crypto.randomUUID();
			const reply = await callOptional("registerAgents", { agents, exclusive, owner });
			return { ...reply, dispose: async () => void (await call("registerAgents", { agents: [], owner })) };
		},
		stop: (agentId) => call("stop", { agentId }),
		consume: (agentId) => call("consume", { agentId }),
		on: subscribe,
		close() {
			closed ??= new RpcError("closed", "The connection was closed.");
			for (const unsubscribe of listeners) unsubscribe();
			waits.close(closed);
			for (const fail of openRequests) fail(closed);
		},
	};
}
