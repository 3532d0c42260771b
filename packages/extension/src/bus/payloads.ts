/** Bus payloads made from an agent's record. Copies only, so that other extensions cannot change our state. Pure. */
import {
	type AgentRecord,
	addUsage,
	type LiveDelta,
	type LiveEntry,
	NO_USAGE,
	type Outcome,
	treeUsage,
	workTokens,
} from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { durationOf } from "@pi-subagents/core/outcome-text";
import type { Compacted } from "@pi-subagents/progress";
import { outcomeText } from "@pi-subagents/progress";
import {
	type AgentInfo,
	type AgentNews,
	type AgentStep,
	type Compaction,
	type Cost,
	type SettledAgent,
	toV2Status,
	type WrittenPiece,
} from "@pi-subagents/rpc";
import { toPiUsage } from "@pi-subagents/tools";

export function agentNewsOf({ id, type, description, depth, parentAgentId }: AgentRecord): AgentNews {
	return { id, type, description, depth, ...defined({ parentAgentId }) };
}

export function settledAgentOf(record: AgentRecord, ended: Outcome): SettledAgent {
	const isFlat = Object.values(ended).every((value) => typeof value !== "object"); // cloning takes far longer
	const outcome = isFlat ? { ...ended } : structuredClone(ended);
	const tokens = tokensOf(record);
	return {
		...agentNewsOf(record),
		...resultOf(outcome),
		status: toV2Status(outcome.status, outcome),
		toolUses: record.toolUses,
		durationMs: durationOf(record),
		...(tokens.total > 0 ? { tokens, usage: { ...toPiUsage(record.usage) } } : {}),
		...(outcome.status === "completed" && outcome.structured ? { structured: outcome.structured.data } : {}),
		outcome,
	};
}

export function compactionOf(record: AgentRecord, { reason, tokensBefore }: Compacted): Compaction {
	return {
		...agentNewsOf(record),
		...defined({ reason, tokensBefore }),
		compactionCount: record.compactions,
	};
}

export function agentInfoOf(record: AgentRecord): AgentInfo {
	const { name, status, isBackground, model, activity, question, turns, toolUses, queuedAt, startedAt, completedAt } =
		record;
	return {
		...agentNewsOf(record),
		depth: record.depth,
		status,
		isBackground,
		turns,
		toolUses,
		tokens: tokensOf(record),
		queuedAt,
		...defined({ name, model, activity, question, startedAt, completedAt }),
	};
}

export function deltaOf({ agentId, kind, offset, text, isFinal }: LiveDelta, blockId: number): WrittenPiece {
	return { v: 1, agentId, toolCallId: "", blockId, kind, offset, text, final: isFinal };
}

/** Once as our own fields, and once in `entry` and `index`, where dashboards look for them. */
export function entryOf(given: LiveEntry, blockId?: number): AgentStep {
	const { agentId, seq, at, kind, text, tool, args, durationMs, isError } = given;
	const said = { kind, text, ts: at, ...defined({ isError }) };
	return {
		v: 1,
		agentId,
		seq,
		kind,
		text,
		...defined({ tool, durationMs, isError, blockId }),
		toolCallId: "",
		index: seq,
		entry: tool === undefined ? said : { ...said, toolName: tool, input: structuredClone(args ?? {}) },
	};
}

/** Of one agent with those below it, or of all. */
export function costOf(records: readonly AgentRecord[], agentId?: string): Cost {
	const { usage, agents } =
		agentId === undefined
			? { usage: records.map((record) => record.usage).reduce(addUsage, NO_USAGE), agents: records.length }
			: treeUsage(records, agentId);
	return { cost: usage.cost, tokens: tokensOf({ usage }), usage: { ...toPiUsage(usage) }, agents };
}

function tokensOf({ usage }: Pick<AgentRecord, "usage">) {
	return { input: usage.input, output: usage.output, total: workTokens(usage) };
}

/**
 * Version 2 has a result and an error; for a stopped agent, the error says who stopped it. An error that only a file or
 * another machine claims says so.
 */
function resultOf(outcome: Outcome): Pick<SettledAgent, "result" | "error"> {
	if (outcome.status === "completed") return { result: outcome.text };
	const isSeen = outcome.status === "failed" && outcome.claimedBy === undefined;
	const error = isSeen ? outcome.error : outcomeText(outcome);
	return { error, ...defined({ result: outcome.partialText }) };
}
