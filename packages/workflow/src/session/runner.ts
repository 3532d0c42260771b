/**
 * A workflow as a run of an agent: the manager starts, stops and waits for it like any other, its agents are its
 * children, and its result is delivered as theirs are. It takes no slot, since it only waits.
 */
import type { Emit, LaunchedBy, Outcome, Run, RunIdentity, Runner, RunSpec, Stop } from "@pi-subagents/core";
import type { PhaseProgress } from "@pi-subagents/progress";
import { runWorkflow } from "../engine/engine.ts";
import type { WorkflowLimits, WorkflowPorts, WorkflowResult, WorkflowRun } from "../engine/ports.ts";
import type { JournalEvent } from "../journal/events.ts";
import { fileJournal, journalPath, memoryJournal } from "../journal/file.ts";
import { phasesOf, type WorkflowState, whereabouts } from "../journal/state.ts";

/** The key under which a spec carries what the workflow is to do. As with a conversation, JSON skips it. */
export const ORDER = Symbol.for("@pi-subagents/workflow:order");

export interface Order {
	/** Absent: the script in the journal. */
	script?: string | undefined;
	args?: unknown;
	/** In tokens; absent: no limit. */
	budget?: number | undefined;
	/** Who wrote the script, if not the one who starts it now. */
	author?: LaunchedBy | undefined;
}

export type WorkflowSpec = RunSpec & { [ORDER]?: Order };

export interface WorkflowRunnerDeps {
	portsFor(spec: WorkflowSpec & RunIdentity): WorkflowPorts;
	/** Who wrote the script: it may do what they may. */
	authorOf(spec: WorkflowSpec & RunIdentity): LaunchedBy;
	/** Workflows that run here, by agent. */
	live: Map<string, WorkflowRun>;
	onEvent(event: JournalEvent, state: WorkflowState, agentId: string): void;
	/** The process ends before the workflow does: it is paused. Called before it settles. */
	onLeft(agentId: string): void;
	warn(notice: string): void;
	limits?: Partial<WorkflowLimits>;
}

export function workflowRunner(deps: WorkflowRunnerDeps): Runner {
	return { takesNoSlot: true, start: (spec, emit) => startRun(spec, emit, deps) };
}

function startRun(spec: WorkflowSpec & RunIdentity, emit: Emit, deps: WorkflowRunnerDeps): Run {
	const { agentId, runsDir, [ORDER]: order = {} } = spec;
	const { live, onEvent, warn, limits = {} } = deps;
	let stopped: Stop | undefined;
	const run = runWorkflow({
		id: agentId,
		...order,
		author: deps.authorOf(spec),
		journal: runsDir === undefined ? memoryJournal() : fileJournal(journalPath(runsDir, agentId), warn),
		ports: deps.portsFor(spec),
		limits,
		onEvent(event, state) {
			const line = lineOf(event, state);
			const phases = line === undefined ? [] : phasesOf(state);
			if (line !== undefined) emit({ type: "assistant_text", text: line, ...(phases.length > 0 ? { phases } : {}) });
			onEvent(event, state, agentId);
		},
	});
	live.set(agentId, run);
	const settled = run.settled.then((result): Outcome => {
		if (live.get(agentId) === run) live.delete(agentId);
		return outcomeOf(result, stopped);
	});
	return {
		settled,
		abort(stop) {
			stopped ??= stop;
			if (stop.by === "shutdown") deps.onLeft(agentId);
			run.end(stop.by === "shutdown" ? "left" : "stopped");
		},
		steer: () => undefined, // a script cannot be talked to
		wrapUp: () => run.pause(),
	};
}

/** What its row shows, and what is reported if it is stopped there. */
function lineOf(event: JournalEvent, state: WorkflowState): string | undefined {
	const now = whereText(state);
	switch (event.type) {
		case "phase":
		case "called":
		case "answered":
		case "continued":
			return now;
		case "paused":
			return `Paused · ${now}`;
		case "log":
			return `${now}: ${event.text}`;
		default:
			return undefined;
	}
}

/** `Review · 1/2 agents`, or `Review 1/2 · Refute 0/1 agents`. */
function whereText(state: WorkflowState): string {
	const phases = whereabouts(state);
	const count = ({ done, total }: PhaseProgress) => `${done}/${total}`;
	if (phases.length > 1) return `${phases.map((phase) => `${phase.title} ${count(phase)}`).join(" · ")} agents`;
	return phases.map((phase) => phase.title + (phase.total === 0 ? "" : ` · ${count(phase)} agents`)).join("");
}

const PREVIEW_CHARACTERS = 200;

function outcomeOf(result: WorkflowResult, stop: Stop | undefined): Outcome {
	if (result.status === "failed") return { status: "failed", error: result.error };
	if (result.status === "stopped") return { status: "aborted", ...(stop ?? { by: "parent" }) };
	const { value } = result;
	if (typeof value === "string") return { status: "completed", text: value };
	const text = JSON.stringify(value, undefined, 1);
	return {
		status: "completed",
		text,
		structured: { ok: true, data: value, preview: text.slice(0, PREVIEW_CHARACTERS) },
	};
}
