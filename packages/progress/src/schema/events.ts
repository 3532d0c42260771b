/**
 * The event vocabulary: everything that can be observed of a child agent, whatever runs it. Plain JSON, so that events
 * can be written to a file and read back. Streaming deltas are not events. The schemas say what an event is; the types
 * are made from them.
 */
import { type TProperties, type TSchema, Type } from "typebox";
import { amount, count, listOf, maybeAmount, maybeText, maybeTrue, type Of, oneOf, schema, text } from "./kinds.ts";
import { usageSchema, verificationSchema } from "./outcome.ts";
import type { CHILD_EVENT_TYPES } from "./vocabulary.ts";

/** An event of a child. Every runner emits exactly these. */
export type ChildEvent =
	| AssistantText
	| ToolCall
	| ToolResult
	| UsageReported
	| TurnEnded
	| Compacting
	| Compacted
	| Retrying
	| FallingBack
	| Verifying
	| Verified
	| Idle;

/** The child finished a message. Its text may be blank, for example when it only called tools. */
export interface AssistantText extends Of<typeof assistantText> {}

const assistantText = event("assistant_text", () => ({
	text,
	/** Why the model stopped. Always `toolUse` for a message that calls a tool, whatever the provider reported. */
	stopReason: maybeText,
	/** `provider/id` of the model that answered. */
	model: maybeText,
	/** What went wrong, when `stopReason` is `error` or `aborted`. */
	error: maybeText,
	/** How long the provider asked us to wait, if its response headers said so. */
	retryAfterMs: maybeAmount,
	/** Of a workflow, whose text says where it is: all its phases so far. */
	phases: Type.Optional(listOf(phaseProgress())),
}));

/** How far a phase of a workflow is. */
export interface PhaseProgress extends Of<typeof phaseProgress> {}

const phaseProgress = schema(() =>
	Type.Object({
		title: text,
		/** How many of its agents have answered, of those that were called. */
		done: count,
		total: count,
	}),
);

/** The child started a tool. */
export interface ToolCall extends Of<typeof toolCall> {}

const toolCall = event("tool_call", () => ({
	/** Absent when the source has no id; such calls are matched with their results by name and order. */
	callId: maybeText,
	tool: text,
	args: Type.Record(Type.String(), Type.Unknown()),
}));

/** A tool of the child ended. */
export interface ToolResult extends Of<typeof toolResult> {}

const toolResult = event("tool_result", () => ({
	callId: maybeText,
	tool: text,
	isError: Type.Boolean(),
	/** The tool needs no further answer. If this holds for all tools of a message, it was the child's last. */
	terminates: maybeTrue,
}));

/** What one model answer cost. */
export interface UsageReported extends Of<typeof usageReported> {}

const usageReported = event("usage", () => ({ usage: usageSchema() }));

/** The child finished a turn: one model answer and the tools it called. */
export interface TurnEnded extends Of<typeof turnEnded> {}

const turnEnded = event("turn", () => ({
	/** How full its context is, from 0 to 100, if the source knows. */
	contextPercent: maybeAmount,
}));

/** The child started to compact its context. */
export interface Compacting extends Of<typeof compacting> {}

const compacting = event("compacting", () => ({}));

/** The child's context was compacted, or the attempt failed. */
export interface Compacted extends Of<typeof compacted> {}

const compacted = event("compacted", () => ({
	ok: Type.Boolean(),
	/** Why, if the source says so: requested, the context was nearly full, or the provider refused its size. */
	reason: Type.Optional(oneOf(["manual", "threshold", "overflow"])),
	/** Its size in tokens before, if the source says so. */
	tokensBefore: maybeAmount,
}));

/** The provider failed and the child will retry. */
export interface Retrying extends Of<typeof retrying> {}

const retrying = event("retrying", () => ({
	attempt: amount,
	maxAttempts: amount,
	delayMs: amount,
	error: text,
	/** How long the provider asked us to wait, if its response headers said so. */
	retryAfterMs: maybeAmount,
}));

/** The model could not be used, and the child starts again with its next fallback model. */
export interface FallingBack extends Of<typeof fallingBack> {}

const fallingBack = event("falling_back", () => ({
	/** `provider/id`. */
	from: text,
	/** `provider/id`. */
	to: text,
	error: text,
}));

/** The child has answered, and a command now checks its work. */
export interface Verifying extends Of<typeof verifying> {}

const verifying = event("verifying", () => ({
	/** The command, on one line. */
	command: text,
}));

/** The command that checks the child's work has ended. */
export interface Verified extends Of<typeof verified> {}

const verified = event("verified", () => ({ verification: verificationSchema() }));

/** The child has nothing left to do: no tool, retry, compaction or queued message. */
export interface Idle extends Of<typeof idle> {}

const idle = event("idle", () => ({}));

/** The schema of each event of a child, by its type. */
export const childEventSchemas = schema(
	() =>
		({
			assistant_text: assistantText(),
			tool_call: toolCall(),
			tool_result: toolResult(),
			usage: usageReported(),
			turn: turnEnded(),
			compacting: compacting(),
			compacted: compacted(),
			retrying: retrying(),
			falling_back: fallingBack(),
			verifying: verifying(),
			verified: verified(),
			idle: idle(),
		}) satisfies Record<(typeof CHILD_EVENT_TYPES)[number], TSchema>,
);

/** The schema of an event: its type, and what it says. */
export function event<const Name extends string, Fields extends TProperties>(type: Name, fields: () => Fields) {
	return schema(() => Type.Object({ type: Type.Literal(type), ...fields() }));
}
