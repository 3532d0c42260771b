/**
 * What happened to a run, as events: from its files, or from what a session remembers of it. Whoever did not see the run
 * folds these with `reduce`, as the process did that saw it. Pure.
 */

import type { AgentEvent, AgentQueued, Envelope } from "@pi-subagents/core";
import { type AgentIdentity, type AgentRecord, reduce } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { agentIdentity, type LaunchInfo, launchInfoSchema, newRecord } from "@pi-subagents/core/internal/run";
import { LAUNCHERS } from "@pi-subagents/progress";
import type { EventLine } from "./format/lines.ts";
import type { Meta } from "./format/meta.ts";
import type { ResultFile } from "./format/result.ts";

/** What is known of a run. */
export interface KnownRun {
	agentId: string;
	/** Counts from 1. */
	run: number;
	agent: AgentIdentity;
	queuedAt: number;
	/** When it began, if that is known from elsewhere than its log. */
	startedAt?: number;
	/** Its log, in order. Empty if there is none, or it was not read. */
	lines: readonly EventLine[];
	/** Absent while it runs. */
	end?: KnownEnd;
}

/** How a run ended, as far as that is known: a `result.json`, or what a session remembers. */
export interface KnownEnd
	extends Pick<ResultFile, "outcome" | "completedAt">,
		Partial<Pick<ResultFile, "startedAt" | "durationMs" | "turns" | "toolUses" | "usage" | "resolvedModel">>,
		Pick<AgentRecord, "attempts" | "contextPercent"> {
	/** It was stopped in the queue. */
	neverStarted?: boolean;
}

/** A run as its own files describe it. */
export function knownRun(meta: Meta, lines: readonly EventLine[], end?: KnownEnd): KnownRun {
	const { agentId, run, queuedAt } = meta;
	return { agentId, run, agent: identityIn(meta), queuedAt, lines, ...defined({ end }) };
}

/** The agent as its launch described it, whatever fields a launch has. */
function identityIn(meta: Meta): AgentIdentity {
	const { spec, launchedBy } = meta;
	const fields = Object.keys(launchInfoSchema().properties) as (keyof LaunchInfo)[];
	const inLauncher = ["launchedBy", "parentAgentId", "callId"]; // `meta.json` has them in `launchedBy`
	const said = Object.entries(meta).filter(
		([name]) => fields.includes(name as keyof LaunchInfo) && !inLauncher.includes(name),
	);
	const who = LAUNCHERS.find((each) => each === launchedBy?.who);
	return agentIdentity(spec, {
		...(Object.fromEntries(said) as unknown as LaunchInfo),
		...defined({ launchedBy: who, parentAgentId: launchedBy?.agentId, callId: launchedBy?.callId }),
	});
}

/** What is known of the run alone, folded. */
export function recordOfRun(known: KnownRun): AgentRecord {
	const [queued, ...rest] = eventsOfRun(known);
	return rest.reduce((record, event) => reduce(record, event) ?? record, newRecord(queued));
}

/**
 * The events of the run, numbered after `seq`. Within a run time only passes: the time of day may have been set back
 * meanwhile, or a file may say so.
 *
 * @example
 * ```ts
 * const run = await readRun(dir, { agentDir });
 * if (typeof run !== "string") for (const event of eventsOfRun(knownRun(run.meta, run.lines))) console.log(event.type);
 * ```
 */
export function eventsOfRun(known: KnownRun, seq = 0): [Envelope & AgentQueued, ...AgentEvent[]] {
	const { agentId, run, lines, end } = known;
	const queuedAt = Math.floor(Math.min(known.queuedAt, end?.completedAt ?? known.queuedAt));
	const model = end?.resolvedModel ?? known.agent.model;
	const agent = { ...known.agent, ...defined({ model }) };
	const waits = lines.find((line) => line.type === "agent_queued")?.waits;
	const queued = { type: "agent_queued", agent, ...defined({ waits }) } as const;
	const events: ReturnType<typeof eventsOfRun> = [{ agentId, run, seq: seq + 1, at: queuedAt, ...queued }];
	let last = queuedAt;
	const add = (at: number, ...told: readonly Told[]) => {
		last = Math.max(last, Math.floor(at));
		for (const what of told)
			events.push({ agentId, run, seq: seq + events.length + 1, at: last, ...what } as AgentEvent);
	};
	const startedAt = startOf(known);
	if (startedAt !== undefined) add(Math.min(startedAt, end?.completedAt ?? startedAt), { type: "agent_started" });
	const questions = new OpenQuestions();
	for (const line of lines) add(line.at, ...questions.told(line));
	if (end) add(end.completedAt, ...endingIn(end, model));
	return events;
}

/** An event without its envelope. */
type Told = AgentEvent extends infer Event ? (Event extends AgentEvent ? Omit<Event, keyof Envelope> : never) : never;

/** When it began; undefined if it has not, or never did. */
function startOf({ lines, end, startedAt }: KnownRun): number | undefined {
	const said = lines.find(({ type }) => type === "agent_started") ?? lines.find(isChilds);
	if (said) return said.at;
	// A log without anything of the child is one of a run that was stopped in the queue.
	if (end?.neverStarted || (lines.length > 0 && end?.usage?.output === 0)) return undefined;
	return end?.startedAt ?? startedAt;
}

function isChilds({ type }: EventLine): boolean {
	return !["agent_queued", "agent_settled", "agent_steered", "moved_to_background"].includes(type);
}

/** The end, and what the log would have said of it if there were one. */
function endingIn(end: KnownEnd, model: string | undefined): Told[] {
	const { outcome, durationMs, turns, toolUses, usage, attempts = [], contextPercent } = end;
	const totals = usage && turns !== undefined && toolUses !== undefined ? { turns, toolUses, usage } : undefined;
	return [
		...attempts.map(({ model: from, error }): Told => ({ type: "falling_back", from, to: model ?? from, error })),
		// The totals count its turns, so this one does not.
		...(contextPercent === undefined || !totals ? [] : [{ type: "turn", contextPercent } as const]),
		{ type: "agent_settled", outcome, ...defined({ durationMs, totals }) },
	];
}

/**
 * Turns the lines about questions into what the manager says of them. A wrapper names each question, and may ask several
 * at once; an agent inside a pi has one, which may be passed on.
 */
class OpenQuestions {
	/** Oldest first. */
	readonly #open: (Told & { type: "agent_asked" })[] = [];

	/** The events that a line tells of. */
	told(line: EventLine): Told[] {
		const { at: _at, seq: _seq, ...what } = line;
		switch (what.type) {
			case "agent_queued":
			case "agent_started":
			case "agent_settled":
				return []; // the run's other files say more
			case "child_started":
			case "checkpoint":
			case "granted":
				return [];
			case "question": {
				const { id, question, context, defaultAnswer, dialog } = what;
				const isDialog = dialog === undefined ? undefined : true;
				return this.#ask({ id, question, ...defined({ context, defaultAnswer, isDialog }) });
			}
			case "agent_asked":
				this.#close(undefined);
				return this.#ask(what);
			case "question_over":
				return this.#close(what.id) ? this.#next({}) : [];
			case "agent_answered":
				// The question may be in a part of the log that is missing.
				return this.#close(what.id) || this.#open.length === 0 ? this.#next(defined({ by: what.by })) : [];
			default:
				return [what];
		}
	}

	#ask(asked: Omit<Told & { type: "agent_asked" }, "type">): Told[] {
		const event = { ...asked, type: "agent_asked" } as const;
		this.#open.push(event);
		return [event];
	}

	#close(id: string | undefined): boolean {
		const at = this.#open.findIndex((each) => each.id === id);
		if (at >= 0) this.#open.splice(at, 1);
		return at >= 0;
	}

	/** It waits for the answer to the next one, or goes on. */
	#next(answered: Omit<Told & { type: "agent_answered" }, "type">): Told[] {
		return [this.#open.at(-1) ?? { type: "agent_answered", ...answered }];
	}
}
