/** What the events of a journal add up to. Pure: the same events give the same state. */

import type { LaunchedBy } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { LAUNCHERS, type PhaseProgress } from "@pi-subagents/progress";
import type { CallKind } from "../thread/messages.ts";
import type { Answer, Diverged, JournalEvent, Started } from "./events.ts";

export interface WorkflowState {
	started?: Started & { at: number };
	/** The script as it was run last. */
	script: string;
	/** Who wrote it, if that is known. */
	author?: LaunchedBy;
	/** Whether it was ever resumed with another script. */
	hasChanged: boolean;
	/** How often it was resumed. */
	resumes: number;
	/** By path, in the order of calling. */
	calls: Map<string, CallState>;
	/** Titles, in the order of their first use. */
	phases: string[];
	/** The one that came up last: announced by the script, or named by its latest call. */
	phase?: string;
	/** The last lines that the script logged. */
	logs: string[];
	/** The notes that are written already, by path. */
	noted: Set<string>;
	/** The tokens of all answers. */
	spent: number;
	diverged?: Diverged;
	/** The user asked for a pause. */
	isPaused: boolean;
	end?: { status: "completed" | "failed" | "stopped"; value?: unknown; error?: string };
}

export interface CallState {
	path: string;
	kind: CallKind;
	hash: string;
	label: string;
	phase?: string;
	/** The agent that works on it, or did last, and in which of its runs. */
	agentId?: string;
	run?: number;
	answer?: Answer;
	/** When the answer came, and the tokens of all answers by then. */
	answeredAt?: number;
	spentThen?: number;
	tokens: number;
}

const KEPT_LOGS = 200;

/**
 * @example
 * ```ts
 * const { calls, end } = workflowState(parseJournal(await readFile(path, "utf8")));
 * ```
 */
export function workflowState(events: Iterable<JournalEvent>): WorkflowState {
	const state: WorkflowState = {
		script: "",
		hasChanged: false,
		resumes: 0,
		calls: new Map(),
		phases: [],
		logs: [],
		noted: new Set(),
		spent: 0,
		isPaused: false,
	};
	for (const event of events) advance(state, event);
	return state;
}

/** Adds an event to a state. The engine keeps its own up to date with it; a copy for each event would cost too much. */
export function advance<Type extends JournalEvent["type"]>(state: WorkflowState, event: EventOf<Type>): void {
	STEPS[event.type as Type](state, event);
}

type EventOf<Type> = Extract<JournalEvent, { type: Type }>;

const STEPS: { [Type in JournalEvent["type"]]: (state: WorkflowState, event: EventOf<Type>) => void } = {
	started(state, event) {
		if (state.started) return;
		state.started = event;
		state.script = event.script;
		noteAuthor(state, event.author);
	},
	resumed(state, { script, author }) {
		noteAuthor(state, author);
		state.hasChanged ||= script !== undefined;
		state.script = script ?? state.script;
		state.resumes++;
		state.isPaused = false;
		delete state.end;
		delete state.diverged;
	},
	called(state, { path, kind, hash, label, phase }) {
		if (state.calls.get(path)?.hash === hash) return;
		place(state, { path, kind, hash, label, ...defined({ phase }), tokens: 0 });
		if (phase !== undefined) state.phase = phase;
	},
	launched: (state, { path, agentId, run = 1 }) => change(state, path, { agentId, run }),
	answered(state, { path, answer, tokens, at }) {
		const before = state.calls.get(path)?.tokens ?? 0;
		state.spent += tokens;
		change(state, path, { answer, answeredAt: at, spentThen: state.spent, tokens: before + tokens });
	},
	retried(state, { path }) {
		const { answer: _answer, answeredAt: _at, spentThen: _spent, ...call } = state.calls.get(path) ?? {};
		if ("path" in call) state.calls.set(path, call as CallState);
	},
	moved(state, { path, from: recorded, hash }) {
		const isThere = state.calls.get(recorded)?.hash === hash;
		const from = isThere ? recorded : displaced(recorded, hash);
		const call = state.calls.get(from);
		if (!call) return;
		state.calls.delete(from);
		place(state, { ...call, path });
	},
	phase(state, { text, path }) {
		if (!state.phases.includes(text)) state.phases.push(text);
		state.phase = text;
		state.noted.add(path);
	},
	log(state, { text, path }) {
		state.logs.push(text);
		state.noted.add(path);
		if (state.logs.length > KEPT_LOGS) state.logs.shift();
	},
	paused(state) {
		state.isPaused = true;
	},
	continued(state) {
		state.isPaused = false;
	},
	diverged(state, event) {
		state.diverged ??= event;
	},
	ended(state, event) {
		state.end = event;
	},
};

function change(state: WorkflowState, path: string, fields: Partial<CallState>): void {
	const call = state.calls.get(path);
	if (call) Object.assign(call, fields);
}

/** The recorded call may be made elsewhere now, so it is kept aside. */
function place(state: WorkflowState, call: CallState): void {
	const before = state.calls.get(call.path);
	if (before?.answer || before?.agentId !== undefined) {
		const path = displaced(before.path, before.hash);
		state.calls.set(path, { ...before, path });
	}
	state.calls.set(call.path, call);
}

function displaced(path: string, hash: string): string {
	return `${path}!${hash}`;
}

/** The agent that works on a call, or did last, and in which of its runs. */
export function agentOf(call: CallState | undefined): { agentId: string; run: number } | undefined {
	return call?.agentId === undefined ? undefined : { agentId: call.agentId, run: call.run ?? 1 };
}

/** The latest with this label. */
export function agentCalled({ calls }: WorkflowState, label: string): ReturnType<typeof agentOf> {
	return agentOf([...calls.values()].findLast((call) => call.label === label && call.agentId !== undefined));
}

/** How far each phase is, in the order in which they came up. */
export function phasesOf({ phases, calls }: WorkflowState): PhaseProgress[] {
	const found = new Map(phases.map((title) => [title, { title, done: 0, total: 0 }]));
	for (const { kind, phase, answer } of calls.values()) {
		if (kind !== "agent" || phase === undefined) continue;
		const progress = found.get(phase) ?? { title: phase, done: 0, total: 0 };
		progress.total++;
		if (answer) progress.done++;
		found.set(phase, progress);
	}
	return [...found.values()];
}

/**
 * What a workflow is at: the phases of which agents have not answered, or else the phase that came up last. Each with its
 * own agents, as in the tree; those of no phase go by the name of the workflow.
 */
export function whereabouts(state: WorkflowState): PhaseProgress[] {
	const ofNone = { title: state.started?.name ?? "", done: 0, total: 0 };
	for (const { kind, phase, answer } of state.calls.values()) {
		if (kind !== "agent" || phase !== undefined) continue;
		ofNone.total++;
		if (answer) ofNone.done++;
	}
	const all = [ofNone, ...phasesOf(state)];
	const busy = all.filter(({ done, total }) => done < total);
	return busy.length > 0 ? busy : all.filter(({ title }) => title === (state.phase ?? ofNone.title)).slice(-1);
}

/** How many agents have answered, of those that were called. Asked for at every event, so it makes no lists. */
export function progressOf({ calls }: WorkflowState): { done: number; total: number } {
	let done = 0;
	let total = 0;
	for (const { kind, answer } of calls.values()) {
		if (kind !== "agent") continue;
		total++;
		if (answer) done++;
	}
	return { done, total };
}

/** A word in the file that is none of these is no one's. */
function noteAuthor(state: WorkflowState, author: LaunchedBy | undefined): void {
	if (author !== undefined && LAUNCHERS.includes(author)) state.author = author;
}
