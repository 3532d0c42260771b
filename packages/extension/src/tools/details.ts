/** What a tool result says beside its text. Small and JSON only: pi writes it to the session file. */
import { type AgentRecord, type Status, workTokens } from "@pi-subagents/core";

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

/** `now` counts while it runs; afterwards the end does. */
export function detailsOf(record: AgentRecord, now = record.lastEventAt): AgentDetails {
	const { id, type, status, toolUses, turns, usage } = record;
	return {
		agentId: id,
		preset: type,
		status,
		toolUses,
		turns,
		tokens: workTokens(usage),
		durationMs: durationOf(record, now),
	};
}

/** How long it has worked; the time in the queue does not count. */
export function durationOf({ startedAt, completedAt, lastEventAt }: AgentRecord, now = lastEventAt): number {
	return startedAt === undefined ? 0 : Math.max(0, (completedAt ?? now) - startedAt);
}
