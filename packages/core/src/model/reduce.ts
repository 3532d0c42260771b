/**
 * What each event does to a record. Pure: no clock, no I/O.
 * The only place where a status changes.
 */
import { beginningOf, type ChildEvent, describe, type Outcome } from "@pi-subagents/progress";
import { wholeMs } from "../base/clock.ts";
import { defined } from "../base/values.ts";
import type { AgentEvent, Envelope } from "./event.ts";
import { type AgentRecord, newRecord } from "./record.ts";
import type { AgentAsked, AgentQueued, AgentSettled, AgentStarted, ResultArchived } from "./schema/events.ts";
import { addUsage } from "./usage.ts";

/**
 * Handles any order of events, including duplicates and gaps: an event that does not fit returns the same record
 * object.
 *
 * @example
 * ```ts
 * const record = events.reduce<AgentRecord | undefined>(reduce, undefined);
 * ```
 */
export function reduce(record: AgentRecord | undefined, event: AgentEvent): AgentRecord | undefined {
	return reduceWithLine(record, event).record;
}

/** What {@link reduceWithLine} returns. */
export interface Reduced {
	record: AgentRecord | undefined;
	/** Describes the event for people. Absent if there is nothing worth showing, or the event did not fit. */
	line?: string | undefined;
}

/** {@link reduce} with the line that describes the event, so that no reader has to describe it again. */
export function reduceWithLine(record: AgentRecord | undefined, event: AgentEvent): Reduced {
	if (event.type === "agent_queued") return { record: queue(record, event) };
	if (!record || event.agentId !== record.id) return { record }; // never queued here
	if (event.type === "agent_started") return { record: start(record, event) };
	if (event.type === "result_archived") return { record: file(record, event) };
	if (record.outcome || event.run !== record.run) return { record }; // settled is final until the next run is queued
	const seen = { ...record, lastEventAt: event.at };
	switch (event.type) {
		case "agent_settled":
			return { record: settle(seen, event) };
		case "agent_steered":
		case "notice":
			return { record: seen };
		case "moved_to_background":
			return { record: { ...seen, isBackground: true } };
		case "agent_asked":
			return { record: record.status === "queued" ? record : asked(seen, event) };
		case "agent_answered":
			if (record.status !== "waiting") return { record };
			return { record: { ...without(seen, "question", "asking", "waitsFor"), status: "running" } };
		default:
			return record.status === "queued" ? { record } : observe(seen, event);
	}
}

/** The first run creates a record; a later one reopens a settled record. */
function queue(record: AgentRecord | undefined, event: Envelope & AgentQueued): AgentRecord {
	if (!record) return newRecord(event);
	if (!record.outcome || event.agentId !== record.id || event.run !== record.run + 1) return record;
	return {
		...without(record, "outcome", "completedAt", "durationMs", "startedAt", "activity", ...OF_A_RUN),
		...event.agent, // the next run may use another preset and model
		status: "queued",
		run: event.run,
		queuedAt: event.at,
		lastEventAt: event.at,
		...defined({ queuedFor: event.waits }),
	};
}

/** Fields that belong to one run. */
const OF_A_RUN = [
	"outlives",
	"artifacts",
	"isolation",
	"given",
	"model",
	"requestedModel",
	"maxTurns",
	"attempts",
	"callId",
	"queuedFor",
] as const;

function start(record: AgentRecord, event: Envelope & AgentStarted): AgentRecord {
	if (record.status !== "queued" || event.run !== record.run) return record;
	return { ...record, status: "running", startedAt: event.at, lastEventAt: event.at, isModelWorking: true };
}

function settle(record: AgentRecord, event: Envelope & AgentSettled): AgentRecord {
	const { startedAt, queuedAt } = record;
	const { at, durationMs = at - (startedAt ?? at) } = event;
	return {
		...without(record, "question", "asking", "waitsFor", "memory", "isModelWorking", "isVerifying"),
		...event.totals,
		status: event.outcome.status,
		outcome: event.outcome,
		completedAt: Math.max(at, startedAt ?? queuedAt),
		...(startedAt === undefined ? {} : { durationMs: wholeMs(0, durationMs) }),
	};
}

/** `question` is only what can be answered with a text. */
function asked(record: AgentRecord, event: AgentAsked): AgentRecord {
	const { question, id, context, defaultAnswer, isDialog, to, toName: name } = event;
	return {
		...without(record, "waitsFor", "question"),
		status: "waiting",
		asking: { question, ...defined({ id, context, defaultAnswer, isDialog }) },
		...defined({ question: isDialog ? undefined : question, waitsFor: to && { who: to, ...defined({ name }) } }),
	};
}

/** Thousands of settled agents are kept in memory; the start of a long answer is enough for lists and messages. */
const KEPT_CHARACTERS = 2_000;

function file(record: AgentRecord, event: Envelope & ResultArchived): AgentRecord {
	const { outcome, activity } = record;
	if (!outcome || event.run !== record.run || saidIn(outcome).length <= KEPT_CHARACTERS) return record;
	return {
		...record,
		outcome: shortened(outcome),
		// It may be a slice of the text, and a slice keeps the whole string in memory.
		...(activity === undefined ? {} : { activity: structuredClone(activity) }),
	};
}

function saidIn(outcome: Outcome): string {
	return (outcome.status === "completed" ? outcome.text : outcome.partialText) ?? "";
}

function shortened(outcome: Outcome): Outcome {
	const all = saidIn(outcome);
	const said = beginningOf(all, KEPT_CHARACTERS);
	const omitted = all.length - said.length + (outcome.omitted ?? 0);
	return outcome.status === "completed"
		? { ...outcome, text: said, omitted }
		: { ...outcome, partialText: said, omitted };
}

/** The only place where an event is described: everything that shows it reads this line. */
function observe(record: AgentRecord, event: ChildEvent): Reduced {
	const { memory, line, now } = describe(record.memory, event);
	const next = count(record, event); // a copy, as `record` is
	next.memory = memory;
	if (!QUIET.has(event.type)) next.isModelWorking = memory.pending.length === 0 && !PAUSES.has(event.type);
	const activity = now ?? line;
	if (activity !== undefined) next.activity = activity;
	return { record: next, line };
}

/** Events that say nothing about what happens next. */
const QUIET: ReadonlySet<string> = new Set(["usage", "turn"]);
/** After these, the model does nothing for a while. */
const PAUSES: ReadonlySet<string> = new Set(["compacting", "retrying", "verifying", "verified", "idle"]);

/** What a record sums up from the events of a child. */
export type Counted = Pick<AgentRecord, "turns" | "toolUses" | "usage" | "compactions"> &
	Partial<Pick<AgentRecord, "model" | "phases" | "contextPercent" | "attempts" | "isVerifying">>;

export function count<Sums extends Counted>(record: Sums, event: ChildEvent): Sums {
	switch (event.type) {
		case "assistant_text":
			return { ...record, ...defined({ model: event.model, phases: event.phases }) };
		case "tool_call":
			return { ...record, toolUses: record.toolUses + 1 };
		case "usage":
			return { ...record, usage: addUsage(record.usage, event.usage) };
		case "turn":
			return { ...record, turns: record.turns + 1, ...defined({ contextPercent: event.contextPercent }) };
		case "compacted":
			// How full the context is now, the next turn tells.
			return event.ok ? { ...lacking(record, "contextPercent"), compactions: record.compactions + 1 } : record;
		case "falling_back":
			return {
				...record,
				model: event.to,
				attempts: [...(record.attempts ?? []), { model: event.from, error: event.error }],
			};
		case "verifying":
			return { ...record, isVerifying: true };
		case "verified":
		case "idle":
			return record.isVerifying ? lacking(record, "isVerifying") : record;
		case "tool_result":
		case "compacting":
		case "retrying":
			return record;
		default:
			event satisfies never; // a newer version's log may have more types
			return record;
	}
}

/** Still the same kind of record: such a field is optional. */
function lacking<Sums extends Counted>(record: Sums, field: "contextPercent" | "isVerifying"): Sums {
	return without(record, field) as Sums;
}

function without<From extends object, K extends keyof AgentRecord>(record: From, ...keys: K[]): Omit<From, K> {
	const rest: Record<string, unknown> = {};
	const dropped: readonly string[] = keys;
	// Field by field: V8 handles an object from which one was deleted slowly from then on.
	for (const [key, value] of Object.entries(record)) if (!dropped.includes(key)) rest[key] = value;
	return rest as Omit<From, K>;
}
