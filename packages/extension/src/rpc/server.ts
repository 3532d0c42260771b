/** Serves RPC requests of other extensions over pi's bus. The wording of version 2 errors is known to callers and must stay. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Manager, Outcome } from "@pi-subagents/core";
import { nameKey } from "@pi-subagents/core/internal/base";
import type { RuntimePresets } from "@pi-subagents/launch";
import { type ParseResult, parseDefinition } from "@pi-subagents/presets";
import {
	type AgentDefinition,
	type AgentRegistration,
	type Handlers,
	type Replies,
	requestChannels,
	serve,
	serveRegistrations,
} from "@pi-subagents/rpc";
import { wholeOutcome } from "@pi-subagents/runs";
import type { EventPublisher } from "../bus/bus.ts";
import { agentInfoOf, costOf, settledAgentOf } from "../bus/payloads.ts";
import { launchAgent, launchWorkflow, type RpcDeps } from "./launch.ts";
import { provideRegistry } from "./registry.ts";

/** Call last: its `ready` event says that everything else is set up. */
export function serveRpc(pi: ExtensionAPI, deps: RpcDeps & { bus: EventPublisher }): void {
	const { decided } = provideRegistry(pi, deps);
	const handlers = rpcHandlers(deps, decided);
	const stop = serve(pi.events, handlers, { capabilities: ["outputSchema", "verify"], report: deps.host.warn });
	serveAgentEvents(pi, deps.runtimePresets);
	pi.on("session_start", () => deps.bus.ready());
	pi.on("session_shutdown", stop); // the next session has its own instance
}

/** Whether any request has come in: callers may claim results, so delivery then waits briefly. */
export function trackRpcCallers({ events }: Pick<ExtensionAPI, "events">): () => boolean {
	let isCalled = false;
	const notice = () => {
		isCalled = true;
	};
	for (const channel of Object.values(requestChannels)) events.on(channel, notice);
	return () => isCalled;
}

/** `decided`: an id may be known to its caller before the agent is. */
function rpcHandlers(deps: RpcDeps, decided: (id: string) => Promise<void>): Required<Handlers> {
	const { manager, delivery } = deps;
	const find = async (wanted: string, error?: string) => {
		await decided(wanted);
		return agentOf(manager, wanted, error);
	};
	const settled = async (record: AgentRecord, outcome: Outcome) =>
		settledAgentOf(record, await wholeOutcome(record, outcome));
	return {
		spawn: async (request) => ({ id: (await launchAgent(request, deps)).id }),
		workflow: async (request) => ({ id: (await launchWorkflow(request, deps)).id }),
		async stop({ agentId }) {
			const { id } = activeOf(await find(agentId));
			manager.abort(id, { by: "parent", reason: "another extension stopped it" });
		},
		async consume({ agentId }) {
			const error = "Agent not found or still running";
			const record = await find(agentId, error);
			if (!record.outcome) throw new Error(error);
			delivery.claim(record);
		},
		async steer({ agentId, message }) {
			manager.steer(activeOf(await find(agentId)).id, message);
		},
		registerAgents: (request) => registerAgents(request, deps.runtimePresets),
		status: async ({ agentId }) => agentInfoOf(await find(agentId)),
		cost: async ({ agentId }) =>
			costOf(manager.store.snapshot().records, agentId === undefined ? undefined : (await find(agentId)).id),
		list: () => manager.store.snapshot().records.map(agentInfoOf),
		async result({ agentId }) {
			const record = await find(agentId);
			if (!record.outcome) throw new Error(`Agent is ${record.status}: wait for it, or ask for its status`);
			return settled(record, record.outcome);
		},
		async wait({ agentId }) {
			const { id } = await find(agentId);
			const outcome = await manager.wait(id);
			return settled(agentOf(manager, id), outcome);
		},
	};
}

/** By id, or by name with an optional `@`. The latest agent of a name wins. */
function agentOf(manager: Manager, wanted: string, error = "Agent not found"): AgentRecord {
	const name = nameKey(wanted.replace(/^@/, ""));
	const named = () =>
		manager.store.snapshot().records.findLast((record) => record.name !== undefined && nameKey(record.name) === name);
	const record = manager.store.record(wanted) ?? named();
	if (!record) throw new Error(error);
	return record;
}

/** Sub-agents belong to their parent, which is waiting for them: other extensions must not touch them. */
function activeOf(record: AgentRecord): AgentRecord {
	if (record.parentAgentId !== undefined) throw new Error("Agent is owned by another agent or workflow");
	if (record.outcome) throw new Error("Agent is not running");
	return record;
}

/** Presets that another extension brings along. All of them, or none and an error that names the first that cannot be used. */
function registerAgents(request: AgentRegistration, runtime: RuntimePresets): Replies["registerAgents"] {
	const { agents, owner } = request;
	const isExclusive = request.exclusive ?? false;
	const results = agents.map(parsed);
	const names = results.map(({ preset }) => preset?.name.toLowerCase());
	const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
	if (twice >= 0) throw new Error(`agents[${twice}]: the name "${agents[twice]?.name}" is used twice`);
	runtime.register({ results, isExclusive, owner: owner ?? undefined });
	return { count: results.length, exclusive: isExclusive };
}

/** The same, by the older event. */
function serveAgentEvents(pi: ExtensionAPI, runtime: RuntimePresets): void {
	const stop = serveRegistrations(pi.events, (definition) => runtime.register({ results: [parsed(definition, 0)] }));
	pi.on("session_shutdown", stop);
}

function parsed(definition: AgentDefinition, index: number): ParseResult {
	const result = parseDefinition(definition);
	if (result.preset) return result;
	const why = result.problems.find(({ severity }) => severity === "error")?.message ?? "it cannot be used";
	throw new Error(`agents[${index}] "${definition.name}": ${why}`);
}
