/** Which run launched which, and the order in which a tree is read. Pure. */
import { runIdOf } from "@pi-subagents/core";
import type { RunInput } from "./build.ts";
import type { ReportAgent } from "./types.ts";

/** The launching run of each run that an agent launched. An agent may have several; the call or the time says which. */
export function parentsOf(runs: readonly RunInput[]): Map<RunInput, string> {
	const byAgent = Map.groupBy(runs, ({ agentId }) => agentId);
	const byCall = new Map(
		runs.flatMap((run) =>
			run.lines.flatMap((line) =>
				line.type === "tool_call" && line.callId !== undefined
					? [[`${run.agentId} ${line.callId}`, runIdOf(run)] as const]
					: [],
			),
		),
	);
	const parents = new Map<RunInput, string>();
	for (const run of runs) {
		const { parentAgentId, callId } = run.agent;
		if (parentAgentId === undefined || parentAgentId === run.agentId) continue;
		const candidates = (byAgent.get(parentAgentId) ?? []).toSorted((a, b) => a.run - b.run);
		const before = candidates.findLast(({ queuedAt }) => queuedAt <= run.queuedAt) ?? candidates[0];
		const parent = byCall.get(`${parentAgentId} ${callId}`) ?? (before && runIdOf(before));
		if (parent !== undefined) parents.set(run, parent);
	}
	return parents;
}

/** Parents first, siblings in the order of launching. Files can claim anything: a circle is cut open. */
export function inTreeOrder(agents: readonly ReportAgent[]): ReportAgent[] {
	const known = new Set(agents.map(({ id }) => id));
	const children = Map.groupBy(
		agents.toSorted((a, b) => a.queuedAt - b.queuedAt),
		({ parentId }) => (parentId !== undefined && known.has(parentId) ? parentId : undefined),
	);
	const ordered: ReportAgent[] = [];
	const seen = new Set<ReportAgent>();
	const place = (roots: readonly ReportAgent[]) => {
		const stack = roots.map((agent) => ({ agent, depth: 1 })).reverse();
		for (let next = stack.pop(); next; next = stack.pop()) {
			const { agent, depth } = next;
			if (seen.has(agent)) continue;
			seen.add(agent);
			ordered.push(depth === 1 ? withoutParent(agent) : { ...agent, depth });
			for (const child of (children.get(agent.id) ?? []).toReversed()) stack.push({ agent: child, depth: depth + 1 });
		}
	};
	place(children.get(undefined) ?? []);
	for (const agent of agents) if (!seen.has(agent)) place([agent]);
	return ordered;
}

function withoutParent({ parentId: _unknown, ...agent }: ReportAgent): ReportAgent {
	return { ...agent, depth: 1 };
}
