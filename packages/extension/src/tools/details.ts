/** What a tool result says beside its text. Small and JSON only: pi writes it to the session file. */
import { type AgentRecord, cachedShare, type Status, workTokens } from "@pi-subagents/core";
import { type StructuredDetails, structuredDetails } from "./structured.ts";

export interface AgentDetails {
	agentId: string;
	preset: string;
	status: Status;
	toolUses: number;
	turns: number;
	/** New work only: what was read from the cache does not count. */
	tokens: number;
	/** Of what its model read, how much the provider had in its cache. */
	cachedPercent?: number;
	durationMs: number;
	/** What became of the schema that its answer had to match. */
	structured?: StructuredDetails;
	/** The models that could not be used before the present one. */
	attempts?: { model: string; error: string }[];
}

/** `now` counts while it runs; afterwards the end does. */
export function detailsOf(record: AgentRecord, now = record.lastEventAt): AgentDetails {
	const { id, type, status, toolUses, turns, usage } = record;
	const cachedPercent = cachedPercentOf(record);
	const structured = structuredDetails(record);
	return {
		agentId: id,
		preset: type,
		status,
		toolUses,
		turns,
		tokens: workTokens(usage),
		...(cachedPercent > 0 ? { cachedPercent } : {}),
		durationMs: durationOf(record, now),
		...(structured === undefined ? {} : { structured }),
		...(record.attempts === undefined ? {} : { attempts: record.attempts }),
	};
}

/** As a whole number; 0 also as long as it has read nothing. */
export function cachedPercentOf({ usage }: Pick<AgentRecord, "usage">): number {
	return Math.round(100 * (cachedShare(usage) ?? 0));
}

/** How long it has worked; the time in the queue does not count. */
export function durationOf({ startedAt, completedAt, lastEventAt }: AgentRecord, now = lastEventAt): number {
	return startedAt === undefined ? 0 : Math.max(0, (completedAt ?? now) - startedAt);
}
