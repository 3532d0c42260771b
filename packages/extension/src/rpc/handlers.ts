/** What is done for other extensions. The wording of the errors of version 2 is known to its callers, and stays. */
import type { AgentRecord, Manager, Outcome } from "@pi-subagents/core";
import type { Handlers } from "@pi-subagents/rpc";
import { agentInfoOf, settledAgentOf } from "../bus/payloads.ts";
import { wholeOutcome } from "../tools/whole-outcome.ts";
import { launchFor, type RpcDeps } from "./launch.ts";

export function rpcHandlers(deps: RpcDeps): Required<Handlers> {
	const { manager, delivery } = deps;
	const find = (wanted: string) => agentOf(manager, wanted);
	const settled = async (record: AgentRecord, outcome: Outcome) =>
		settledAgentOf(record, await wholeOutcome(record, outcome));
	return {
		spawn: async (request) => ({ id: (await launchFor(request, deps)).id }),
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

/** By its id, or by its name with or without the `@` that people write. The latest of a name is meant. */
function agentOf(manager: Manager, wanted: string, complaint = "Agent not found"): AgentRecord {
	const name = wanted.replace(/^@/, "").toLowerCase();
	const named = () => manager.store.snapshot().records.findLast((record) => record.name?.toLowerCase() === name);
	const record = manager.store.record(wanted) ?? named();
	if (!record) throw new Error(complaint);
	return record;
}

/** What an agent launched is its own: it waits for it, and others would pull it away from under its hands. */
function activeOf(record: AgentRecord): AgentRecord {
	if (record.parentAgentId !== undefined) throw new Error("Agent is owned by another agent");
	if (record.outcome) throw new Error("Agent is not running");
	return record;
}
