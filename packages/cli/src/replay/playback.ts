/** Recorded runs → the events that a store saw when they ran, on one time axis. Pure. */
import type { AgentEvent } from "@pi-subagents/core";
import { eventsOfRun, type KnownRun } from "@pi-subagents/runs";

/** Pauses in which nothing ran are shortened to this. */
const LONGEST_GAP_MS = 2_000;

/** In the order of time. */
export function playbackOf(runs: readonly KnownRun[]): AgentEvent[] {
	const byLaunch = runs.toSorted((a, b) => a.queuedAt - b.queuedAt);
	const known = new Set(runs.map(({ agentId }) => agentId));
	const events = byLaunch
		.flatMap((run) => eventsOfRun(withEnd(withKnownParent(run, known))))
		.sort((a, b) => a.at - b.at);
	return withoutGaps(events).map((event, index) => ({ ...ofAllRuns(event), seq: index + 1 }));
}

/** Without its parent it would be shown nowhere. */
function withKnownParent(run: KnownRun, known: ReadonlySet<string>): KnownRun {
	const { parentAgentId, ...agent } = run.agent;
	return parentAgentId === undefined || known.has(parentAgentId) ? run : { ...run, agent: { ...agent, depth: 1 } };
}

function withEnd(run: KnownRun): KnownRun {
	const last = run.lines.reduce((latest, { at }) => Math.max(latest, at), run.queuedAt);
	return run.end ? run : { ...run, end: { outcome: LOST, completedAt: last } };
}

const LOST = { status: "aborted", by: "lost", reason: "its files do not say how it ended" } as const;

/** What a result counts is of one run; the log counts for all runs of an agent. */
function ofAllRuns(event: AgentEvent): AgentEvent {
	if (event.type !== "agent_settled") return event;
	const { totals: _ofRun, ...settled } = event;
	return settled;
}

function withoutGaps(events: readonly AgentEvent[]): AgentEvent[] {
	let unfinished = 0;
	let before = events[0]?.at ?? 0;
	let skipped = 0;
	return events.map((event) => {
		if (unfinished === 0) skipped += Math.max(0, event.at - before - LONGEST_GAP_MS);
		before = event.at;
		if (event.type === "agent_queued") unfinished++;
		if (event.type === "agent_settled") unfinished--;
		return { ...event, at: event.at - skipped };
	});
}
