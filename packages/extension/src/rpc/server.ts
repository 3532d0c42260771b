/** Serves RPC requests of other extensions over pi's bus. The wording of version 2 errors is known to callers and must stay. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type Manager, nameKey, type Outcome } from "@pi-subagents/core";
import { wholeOutcome } from "@pi-subagents/core/report";

import { type Handlers, requestChannels, serve } from "@pi-subagents/rpc";
import type { EventPublisher } from "../bus/bus.ts";
import { agentInfoOf, settledAgentOf } from "../bus/payloads.ts";
import { launchAgent, type RpcDeps } from "./launch.ts";
import { provideRegistry } from "./registry.ts";

/** Call last: its `ready` event says that everything else is set up. */
export function serveRpc(pi: ExtensionAPI, deps: RpcDeps & { bus: EventPublisher }): void {
	const stop = serve(pi.events, rpcHandlers(deps), { capabilities: ["outputSchema"], report: deps.host.tell });
	provideRegistry(pi, deps);
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

function rpcHandlers(deps: RpcDeps): Required<Handlers> {
	const { manager, delivery } = deps;
	const find = (wanted: string) => agentOf(manager, wanted);
	const settled = async (record: AgentRecord, outcome: Outcome) =>
		settledAgentOf(record, await wholeOutcome(record, outcome));
	return {
		spawn: async (request) => ({ id: (await launchAgent(request, deps)).id }),
		stop({ agentId }) {
			const { id } = activeOf(find(agentId));
			manager.abort(id, { by: "parent", reason: "another extension stopped it" });
		},
		consume({ agentId }) {
			const record = agentOf(manager, agentId, "Agent not found or still running");
			if (!record.outcome) throw new Error("Agent not found or still running");
			delivery.claim(record);
		},
		steer({ agentId, message }) {
			manager.steer(activeOf(find(agentId)).id, message);
		},
		status: ({ agentId }) => agentInfoOf(find(agentId)),
		list: () => manager.store.snapshot().records.map(agentInfoOf),
		result({ agentId }) {
			const record = find(agentId);
			if (!record.outcome) throw new Error(`Agent is ${record.status}: wait for it, or ask for its status`);
			return settled(record, record.outcome);
		},
		async wait({ agentId }) {
			const { id } = find(agentId);
			const outcome = await manager.wait(id);
			return settled(find(id), outcome);
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
	if (record.parentAgentId !== undefined) throw new Error("Agent is owned by another agent");
	if (record.outcome) throw new Error("Agent is not running");
	return record;
}
