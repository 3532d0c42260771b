/** Recorded runs → the events that a store saw when they ran, on one time axis. Pure. */
import type { AgentEvent, ChildEvent, LaunchedBy, LifeCycleEvent } from "@pi-subagents/core";
import { LAUNCHERS, RUNNER_NAMES } from "@pi-subagents/progress";
import type { RunInput } from "@pi-subagents/report";

/** Pauses in which nothing ran are shortened to this. */
const LONGEST_GAP_MS = 2_000;

type Numberless = AgentEvent extends infer Event ? (Event extends AgentEvent ? Omit<Event, "seq"> : never) : never;

/** In the order of time. What the log of a run lacks, such as its end, comes from its other files. */
export function playbackOf(runs: readonly RunInput[]): AgentEvent[] {
	const byLaunch = runs.toSorted((a, b) => queuedAt(a) - queuedAt(b));
	const known = new Set(runs.map(({ meta }) => meta.agentId));
	const events = byLaunch.flatMap((run) => eventsOf(run, known)).sort((a, b) => a.at - b.at);
	return withoutGaps(events).map((event, index) => ({ ...event, seq: index + 1 }) as AgentEvent);
}

function queuedAt({ meta }: RunInput): number {
	return meta.queuedAt ?? meta.createdAt;
}

function eventsOf({ meta, lines, result }: RunInput, known: ReadonlySet<string>): Numberless[] {
	const { agentId, run, launchedBy, preset, task, cwd, name, depth = 1, isBackground = false, spec } = meta;
	const first = Math.floor(meta.queuedAt ?? meta.createdAt);
	let last = first;
	/** The time of day may have been set back: within a run, time only passes. */
	const at = (time: number) => (last = Math.max(last, Math.floor(time)));
	const event = (time: number, what: LifeCycleEvent | ChildEvent) =>
		({ agentId, run, at: at(time), ...what }) as Numberless;
	const parent = launchedBy?.agentId;
	const who = LAUNCHERS.find((each): each is LaunchedBy => each === launchedBy?.who);
	const agent = {
		...(name === undefined ? {} : { name }),
		...(parent !== undefined && known.has(parent) ? { parentAgentId: parent, depth } : { depth: 1 }),
		...(who === undefined ? {} : { launchedBy: who }),
		...{
			type: preset,
			description: spec.description,
			task,
			cwd,
			runner: RUNNER_NAMES.find((each) => each === spec.runner) ?? "session",
			isBackground,
		},
		model: result?.resolvedModel ?? meta.resolvedModel,
	};
	const heard = lines.flatMap((line): [number, LifeCycleEvent | ChildEvent][] => {
		const { at: time, seq: _order, ...what } = line;
		switch (what.type) {
			case "agent_queued":
			case "agent_settled":
				return []; // from the other files, which say more
			case "question":
				return [[time, { type: "agent_asked", question: what.question }]];
			case "question_over":
				return [[time, { type: "agent_answered" }]];
			default:
				return [[time, what as LifeCycleEvent | ChildEvent]];
		}
	});
	const hasStart = heard.some(([, { type }]) => type === "agent_started");
	const startedAt = heard[0]?.[0] ?? result?.startedAt;
	return [
		event(first, { type: "agent_queued", agent }),
		...(hasStart || startedAt === undefined ? [] : [event(startedAt, { type: "agent_started" as const })]),
		...heard.map(([time, what]) => event(time, what)),
		event(result?.completedAt ?? last, { type: "agent_settled", outcome: result?.outcome ?? LOST }),
	];
}

const LOST = { status: "aborted", by: "lost", reason: "its files do not say how it ended" } as const;

function withoutGaps(events: readonly Numberless[]): Numberless[] {
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
