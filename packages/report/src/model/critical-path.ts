/** The critical path: the chain of runs that would have to be faster for the whole to be. Pure. */
import type { PathStep, ReportAgent } from "./types.ts";

/** In order; steps do not overlap, and each lies within its run. */
export function criticalPath(agents: readonly ReportAgent[]): PathStep[] {
	const children = Map.groupBy(agents, ({ parentId }) => parentId);
	const roots = [...(children.get(undefined) ?? [])].sort((a, b) => b.endedAt - a.endedAt);
	const steps: PathStep[] = [];
	let before = Number.POSITIVE_INFINITY;
	for (const root of roots) {
		if (root.endedAt > before) continue; // it ran beside a step of the path
		steps.unshift(...pathIn(root, { from: root.queuedAt, to: root.endedAt }, children));
		before = root.queuedAt;
	}
	return steps;
}

interface Window {
	from: number;
	to: number;
}

type Children = ReadonlyMap<string | undefined, readonly ReportAgent[]>;

/** From its end backwards: where it waited for agents, the path leads through the one that ended last. */
function pathIn(agent: ReportAgent, { from, to }: Window, children: Children): PathStep[] {
	const steps: PathStep[] = [];
	let cursor = to;
	const own = (start: number) => {
		if (cursor > start) steps.unshift({ id: agent.id, start, end: cursor });
	};
	const waits = agent.spans.filter(({ kind }) => kind === "agents").sort((a, b) => b.end - a.end);
	for (const wait of waits) {
		const end = Math.min(wait.end, cursor);
		const start = Math.max(wait.start, from);
		const last = latestIn(children.get(agent.id) ?? [], { from: start, to: end });
		if (!last || end <= start) continue;
		const window = { from: Math.max(last.queuedAt, start), to: Math.min(last.endedAt, end) };
		own(window.to);
		steps.unshift(...pathIn(last, window, children));
		cursor = window.from;
	}
	own(from);
	return steps;
}

function latestIn(agents: readonly ReportAgent[], { from, to }: Window): ReportAgent | undefined {
	return agents
		.filter(({ queuedAt, endedAt }) => endedAt > from && queuedAt < to && endedAt <= to)
		.reduce<ReportAgent | undefined>((last, each) => (last && last.endedAt >= each.endedAt ? last : each), undefined);
}
