/** What the page shows, as pure functions: the visible part of the time axis, the visible rows, and sums for people. */
import type { ReportAgent, Span, SpanKind } from "../model/types.ts";

/** The visible part of the time axis, in milliseconds since the epoch. */
export interface View {
	from: number;
	to: number;
}

/** No closer: a millisecond is the smallest step. */
const CLOSEST_MS = 5;

/** Zooms by a factor around a time and stays within `all`. */
export function zoomed({ from, to }: View, all: View, factor: number, around = (from + to) / 2): View {
	const width = Math.min(Math.max((to - from) * factor, CLOSEST_MS), all.to - all.from);
	const start = around - ((around - from) / (to - from || 1)) * width;
	return within({ from: start, to: start + width }, all);
}

/** Moves by a share of its width. */
export function panned(view: View, all: View, share: number): View {
	const by = (view.to - view.from) * share;
	return within({ from: view.from + by, to: view.to + by }, all);
}

function within({ from, to }: View, all: View): View {
	const width = Math.min(to - from, all.to - all.from);
	const start = Math.min(Math.max(from, all.from), all.to - width);
	return { from: start, to: start + width };
}

/** Round steps that leave room for their labels. */
export function ticksOf({ from, to }: View, origin: number, most: number): number[] {
	const steps = [
		1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
	];
	const wanted = (to - from) / Math.max(1, most);
	const step = steps.find((each) => each >= wanted) ?? Math.ceil(wanted / 36e5) * 36e5;
	const ticks: number[] = [];
	for (let at = origin + Math.ceil((from - origin) / step) * step; at <= to; at += step) ticks.push(at);
	return ticks;
}

export interface VisibleRow {
	agent: ReportAgent;
	hasChildren: boolean;
	isOpen: boolean;
}

/** Without what is below a closed one. While a search is on, only matches and the agents above them, all open. */
export function visibleRows(
	agents: readonly ReportAgent[],
	{ closed, search }: { closed: ReadonlySet<string>; search: string },
): VisibleRow[] {
	const parents = new Set(agents.map(({ parentId }) => parentId));
	const shown = search.trim() === "" ? undefined : matching(agents, search.trim().toLowerCase());
	const hidden = new Set<string>();
	return agents.flatMap((agent) => {
		const { id, parentId } = agent;
		if (shown ? !shown.has(id) : parentId !== undefined && (hidden.has(parentId) || closed.has(parentId))) {
			hidden.add(id);
			return [];
		}
		return [{ agent, hasChildren: parents.has(id), isOpen: shown !== undefined || !closed.has(id) }];
	});
}

function matching(agents: readonly ReportAgent[], words: string): Set<string> {
	const shown = new Set<string>();
	for (const agent of agents.toReversed()) {
		if (shown.has(agent.id) || textOf(agent).includes(words)) {
			shown.add(agent.id);
			if (agent.parentId !== undefined) shown.add(agent.parentId);
		}
	}
	return shown;
}

const texts = new WeakMap<ReportAgent, string>();

/** Everything that can be searched for. */
function textOf(agent: ReportAgent): string {
	const known = texts.get(agent);
	if (known !== undefined) return known;
	const { id, name, preset, description, task, model, status, answer, error, transcript } = agent;
	const said = transcript.map((entry) => entry.text);
	const text = [id, name, preset, description, task, model, status, answer, error, ...said].join("\n").toLowerCase();
	texts.set(agent, text);
	return text;
}

/** How long each kind took in all, the longest first. What overlaps counts once. */
export function timeByKind(spans: readonly Span[]): [SpanKind, number][] {
	const sums = new Map<SpanKind, { ms: number; until: number }>();
	for (const { kind, start, end } of spans) {
		const { ms, until } = sums.get(kind) ?? { ms: 0, until: 0 };
		sums.set(kind, { ms: ms + Math.max(0, end - Math.max(start, until)), until: Math.max(until, end) });
	}
	return [...sums].flatMap(([kind, { ms }]): [SpanKind, number][] => (ms > 0 ? [[kind, ms]] : [])).sort(byTime);
}

function byTime([, a]: [SpanKind, number], [, b]: [SpanKind, number]): number {
	return b - a;
}

/** The cost of an agent and all below it, by its id. */
export function costsBelow(agents: readonly ReportAgent[]): Map<string, number> {
	const costs = new Map(agents.map(({ id, usage }) => [id, usage.cost]));
	for (const { id, parentId } of agents.toReversed())
		if (parentId !== undefined) costs.set(parentId, (costs.get(parentId) ?? 0) + (costs.get(id) ?? 0));
	return costs;
}
