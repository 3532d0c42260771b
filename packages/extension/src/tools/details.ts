/** What a tool result says beside its text. Small and JSON only: pi writes it to the session file. */
import type { AgentRecord, Status } from "@pi-subagents/core";

export interface AgentDetails {
	agentId: string;
	preset: string;
	status: Status;
	toolUses: number;
	turns: number;
	/** New work only: what was read from the cache does not count. */
	tokens: number;
	durationMs: number;
}

export function detailsOf(record: AgentRecord): AgentDetails {
	const { id, type, status, toolUses, turns, usage, startedAt, completedAt, lastEventAt } = record;
	return {
		agentId: id,
		preset: type,
		status,
		toolUses,
		turns,
		tokens: usage.input + usage.output + usage.cacheWrite,
		durationMs: startedAt === undefined ? 0 : (completedAt ?? lastEventAt) - startedAt,
	};
}
