/**
 * The line files of a run. `events.jsonl` goes from the wrapper to the watcher, `control.jsonl` the other way; both only
 * grow, one JSON object per line. `control.jsonl` of a run on this machine lies in pi's own directory (`controlPath`),
 * where its agent cannot write in a sandbox; that of a run elsewhere lies in the copy of its directory, and is sent from
 * there. A last line without LF is not written yet, and an unknown `type` comes from a newer version. `live.jsonl` exists only while an owner watches what the child writes: it starts over when it gets long, and
 * losing it loses nothing.
 */

import { answerSchema, lifeCycleSchemas, limitsSchema, questionSchema } from "@pi-subagents/core/internal/run";
import { identitySchema } from "@pi-subagents/core/internal/signals";
import { ABORTERS, type ChildEvent, CUTTERS, SETTLED_STATUSES } from "@pi-subagents/progress";
import {
	childEventSchemas,
	count,
	event,
	maybeText,
	maybeTrue,
	type Of,
	oneOf,
	schema,
	text,
	time,
} from "@pi-subagents/progress/schema";
import { type TProperties, type TSchema, Type } from "typebox";

/** A line of `events.jsonl`. `seq` grows from line to line, not always by one; older files have none. */
export type EventLine = { at: number; seq?: number } & (ChildEvent | WrapperEvent | LifeCycleLine);

/** What the manager, or the wrapper for it, decided. The identity and the outcome are in the other files. */
export type LifeCycleLine = Of<() => ReturnType<typeof lifeCycleLines>[keyof ReturnType<typeof lifeCycleLines>]>;

const lifeCycleLines = schema(() => {
	const { agent_queued, agent_settled, result_archived, agent_answered, notice, ...others } = lifeCycleSchemas();
	const { agent, ...queued } = agent_queued.properties;
	return {
		...others,
		agent_queued: Type.Object(queued),
		/** `id`: the question's, if the wrapper says it. */
		agent_answered: Type.Object({ ...agent_answered.properties, id: maybeText }),
		agent_settled: Type.Object({ type: agent_settled.properties.type, status: oneOf(SETTLED_STATUSES) }),
	};
});

/** Whether it is about the run rather than from the child. */
export function isLifeCycleLine(line: EventLine): line is EventLine & LifeCycleLine {
	return line.type.startsWith("agent_") || line.type === "moved_to_background";
}

/** What the wrapper reports besides the child's events. */
export type WrapperEvent = Of<() => ReturnType<typeof wrapperEvents>[keyof ReturnType<typeof wrapperEvents>]>;

const wrapperEvents = schema(() => ({
	/** pi's process, which leads its own group. */
	child_started: event("child_started", () => identitySchema())(),
	/**
	 * Answered by `answer`, unless `question_over` comes first. With `dialog`, an extension asks and not the agent: only the
	 * user may answer, with `dialog`, and `question` is its title. `dialogIn` checks it.
	 */
	question: event("question", () => ({
		id: text,
		...questionSchema().properties,
		dialog: Type.Optional(Type.Unknown()),
	}))(),
	question_over: event("question_over", () => ({ id: text }))(),
	/** The child would continue. It waits for `pass` as long as a watcher exists. */
	checkpoint: event("checkpoint", () => ({ id: text }))(),
	/** From now on these limits apply, even without a watcher. */
	granted: event("granted", () => ({ limits: limitsSchema() }))(),
	notice: lifeCycleSchemas().notice,
}));

/** The schema of a line of `events.jsonl`, by its `type`. */
export const eventLineSchemas = schema((): ReadonlyMap<string, TSchema> => {
	const events: Record<string, { properties: TProperties }> = {
		...childEventSchemas(),
		...wrapperEvents(),
		...lifeCycleLines(),
	};
	return new Map(
		Object.entries(events).map(([type, { properties }]) => [
			type,
			Type.Object({ ...properties, at: time, seq: Type.Optional(count) }),
		]),
	);
});

/** A line of `live.jsonl`. */
export interface LiveLine extends Of<typeof liveSchema> {}

export const liveSchema = schema(() =>
	Type.Object({
		/** The id of the `watch` that asked for it; others are left over from an earlier one. */
		for: text,
		block: count,
		kind: oneOf(["text", "thinking"]),
		offset: count,
		text,
		isFinal: maybeTrue,
	}),
);

const dialogAnswerSchema = schema(() =>
	Type.Union([Type.Object({ choice: count }), Type.Object({ confirmed: Type.Boolean() }), Type.Object({ text })]),
);

/** A line of `control.jsonl`. */
export type ControlLine = Of<typeof controlSchema>;

export const controlSchema = schema(() =>
	Type.Union([
		event("steer", () => ({ message: text }))(),
		event("wrap_up", () => ({ reason: maybeText, by: Type.Optional(oneOf(CUTTERS)) }))(),
		/** The owner wants `live.jsonl` from now on; without an id, no longer. */
		event("watch", () => ({ id: maybeText }))(),
		event("abort", () => ({ stop: Type.Object({ by: oneOf(ABORTERS), reason: maybeText }) }))(),
		event("answer", () => ({ id: text, answer: answerSchema() }))(),
		/** The user's answer to a dialog; without one it was dismissed. `shown`: which words it answers (`digestOfDialog`). */
		event("dialog", () => ({ id: text, shown: maybeText, answer: Type.Optional(dialogAnswerSchema()) }))(),
		/** What the run may use in all once no one watches it: its share of what the session may still use. */
		event("alone", () => ({ limits: limitsSchema() }))(),
		/** `limits`: more was granted than the spec's. `error`: the checkpoint itself failed, and nothing may pass. */
		event("pass", () => ({
			id: text,
			word: oneOf(["go", "end"]),
			limits: Type.Optional(limitsSchema()),
			error: maybeText,
		}))(),
	]),
);
