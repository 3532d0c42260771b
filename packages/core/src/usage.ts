/** What agents used, alone and with all that they launched. Pure. */
import type { Usage } from "@pi-subagents/progress";
import type { AgentRecord } from "./record.ts";

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** An agent and its descendants together. */
export interface TreeUsage {
	usage: Usage;
	turns: number;
	toolUses: number;
	/** How many agents that is, the root of the tree included. */
	agents: number;
}

export function addUsage(a: Usage, b: Usage): Usage {
	return {
		input: a.input + b.input,
		output: a.output + b.output,
		cacheRead: a.cacheRead + b.cacheRead,
		cacheWrite: a.cacheWrite + b.cacheWrite,
		cost: a.cost + b.cost,
	};
}

/** New work: what was read from the cache is billed, but it is not new. */
export function workTokens({ input, output, cacheWrite }: Usage): number {
	return input + output + cacheWrite;
}

/** Everything that was billed. */
export function billedTokens(usage: Usage): number {
	return workTokens(usage) + usage.cacheRead;
}

/** How much of what its models read came from the cache, from 0 to 1; undefined as long as they read nothing. */
export function cachedShare({ input, cacheRead, cacheWrite }: Usage): number | undefined {
	const read = input + cacheRead + cacheWrite;
	return read > 0 ? cacheRead / read : undefined;
}

/** Of the agent `id` and all below it. Records may come in any order. */
export function treeUsage(records: readonly AgentRecord[], id: string): TreeUsage {
	const byParent = Map.groupBy(records, ({ parentAgentId }) => parentAgentId ?? "");
	const root = records.filter((record) => record.id === id);
	const total: TreeUsage = { usage: NO_USAGE, turns: 0, toolUses: 0, agents: 0 };
	const seen = new Set<string>();
	for (const open = [...root]; open.length > 0; ) {
		const record = open.pop();
		if (!record || seen.has(record.id)) continue; // a circle in damaged data must end
		seen.add(record.id);
		total.usage = addUsage(total.usage, record.usage);
		total.turns += record.turns;
		total.toolUses += record.toolUses;
		total.agents++;
		open.push(...(byParent.get(record.id) ?? []));
	}
	return total;
}
