/** `/subagent stop`: ends an agent, and all that it launched. */
import type { AgentRecord } from "@pi-subagents/core";
import { outcomeText } from "@pi-subagents/progress";
import { allAgents, findCandidate } from "../agents.ts";
import type { Block } from "./layout.ts";
import { agentOffers } from "./offers.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";
import { called, durationOf, isActive } from "./words.ts";

export function stopCommand({ manager }: CommandDeps): Subcommand {
	const agents = allAgents(manager, "user");
	return {
		name: "stop",
		args: "[id]",
		about: "stop an agent; without an id the only one at work",
		offers: () => agentOffers(agents.list().filter(isActive)),
		run(rest) {
			const found = findCandidate(agents.list(), rest, { is: isActive, none: "No agent is at work." });
			const wasActive = isActive(found);
			if (wasActive) agents.abort(found.id, { by: "user" });
			return stopBlocks(manager.store.record(found.id) ?? found, { wasActive });
		},
	};
}

export function stopBlocks(record: AgentRecord, { wasActive }: { wasActive: boolean }): Block[] {
	const { id, outcome } = record;
	const how = outcome ? outcomeText(outcome, { durationMs: durationOf(record) }) : record.status;
	if (!wasActive) return [{ text: `${called(record)} had ended already. ${how}.` }];
	const hasText = outcome !== undefined && outcome.status !== "completed" && outcome.partialText !== undefined;
	const hint: Block = { text: `What it had said until then: /subagent view ${id}`, tone: "muted" };
	return [{ text: `${called(record)}: ${how}.`, tone: "strong" }, ...(hasText ? [hint] : [])];
}
