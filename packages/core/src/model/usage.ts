/** What agents used, alone and with their descendants. Pure. */
import type { Usage } from "@pi-subagents/progress";
import type { AgentRecord } from "./record.ts";

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** An agent and its descendants together. */
export interface TreeUsage {
	usage: Usage;
	turns: number;
	toolUses: number;
	/** The number of agents, including the root. */
	agents: number;
}

export function addUsage(a: Usage, b: Usage): Usage {
	return {
		input: a.input + b.input,
		output: a.output + b.output,
		cacheRead: a.cacheRead + b.cacheRead,
		cacheWrite: a.cacheWrite + b.cacheWrite,
		cost: a.cost + b.cost,
		...(isFromProvider(a, b) && { costFromProvider: true }),
	};
}

/** What was used since `before`. */
export function usageSince(before: Usage, now: Usage): Usage {
	return {
		input: now.input - before.input,
		output: now.output - before.output,
		cacheRead: now.cacheRead - before.cacheRead,
		cacheWrite: now.cacheWrite - before.cacheWrite,
		cost: now.cost - before.cost,
	};
}

/** As pi combines them: only if every part that cost something says so. */
function isFromProvider(a: Usage, b: Usage): boolean {
	if (!isUsed(a)) return isUsed(b) && b.costFromProvider === true;
	return a.costFromProvider === true && (b.costFromProvider === true || !isUsed(b));
}

function isUsed(usage: Usage): boolean {
	return usage.cost > 0 || billedTokens(usage) > 0;
}

/** New work: tokens read from the cache are billed, but not new. */
export function workTokens({ input, output, cacheWrite }: Usage): number {
	return input + output + cacheWrite;
}

/** Everything that was billed. */
export function billedTokens(usage: Usage): number {
	return workTokens(usage) + usage.cacheRead;
}

/** The share of input tokens that came from the cache, from 0 to 1; undefined if nothing was read. */
export function cachedShare({ input, cacheRead, cacheWrite }: Usage): number | undefined {
	const read = input + cacheRead + cacheWrite;
	return read > 0 ? cacheRead / read : undefined;
}

/** Of the agent `id` and its descendants. Records may come in any order. */
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
