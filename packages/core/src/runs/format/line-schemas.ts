/** The schemas of lines: the log of a run, what its owner sends, and the text that is still being written. */
import type { ChildEvent } from "@pi-subagents/progress";
import { type TProperties, type TSchema, Type } from "typebox";
import { once } from "../../base/values.ts";
import { NOTICE_LEVELS } from "../../model/dialog.ts";
import { WHY_UNANSWERED } from "../../model/question.ts";
import type { Stop } from "../../model/runner.ts";
import { identitySchema } from "../../signals/identity.ts";
import { aborter, amount, count, cutBy, maybeAmount, maybeText, objectOf, oneOf, text, time } from "./kinds.ts";
import type { LifeCycleLine, LiveLine, WrapperEvent } from "./layout.ts";
import { usageSchema, verificationSchema } from "./result-schema.ts";
import { limitsSchema } from "./spec-schema.ts";

const stop = once(() => objectOf<Stop>()({ by: aborter, reason: maybeText }));

const answerer = oneOf("agent", "session", "user", "default", "nobody");

/** Absent in files of older versions. */
const whyUnanswered = Type.Optional(oneOf(...WHY_UNANSWERED));

const answer = once(() =>
	Type.Union([
		Type.Object({ by: oneOf("agent", "session", "user"), text }),
		Type.Object({ by: Type.Literal("default"), text, why: whyUnanswered }),
		Type.Object({ by: Type.Literal("nobody"), why: whyUnanswered }),
	]),
);

const dialogAnswer = once(() =>
	Type.Union([Type.Object({ choice: count }), Type.Object({ confirmed: Type.Boolean() }), Type.Object({ text })]),
);

/** A line of `control.jsonl`. */
export const controlSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("steer"), message: text }),
		Type.Object({ type: Type.Literal("wrap_up"), reason: maybeText, by: Type.Optional(cutBy) }),
		Type.Object({ type: Type.Literal("watch"), id: maybeText }),
		Type.Object({ type: Type.Literal("abort"), stop: stop() }),
		Type.Object({ type: Type.Literal("answer"), id: text, answer: answer() }),
		Type.Object({ type: Type.Literal("dialog"), id: text, answer: Type.Optional(dialogAnswer()) }),
		Type.Object({
			type: Type.Literal("pass"),
			id: text,
			word: oneOf("go", "end"),
			limits: Type.Optional(limitsSchema()),
			error: maybeText,
		}),
	]),
);

export const liveSchema = once(() =>
	objectOf<LiveLine>()({
		for: text,
		block: count,
		kind: oneOf("text", "thinking"),
		offset: count,
		text,
		isFinal: Type.Optional(Type.Literal(true)),
	}),
);

/** A line of `events.jsonl` by its `type`. */
export const eventSchemas = once(
	() =>
		({
			assistant_text: event("assistant_text", {
				text,
				stopReason: maybeText,
				model: maybeText,
				error: maybeText,
				retryAfterMs: maybeAmount,
				phases: Type.Optional(Type.Array(Type.Object({ title: text, done: count, total: count }))),
			}),
			tool_call: event("tool_call", { callId: maybeText, tool: text, args: Type.Record(text, Type.Unknown()) }),
			tool_result: event("tool_result", {
				callId: maybeText,
				tool: text,
				isError: Type.Boolean(),
				terminates: Type.Optional(Type.Literal(true)),
			}),
			usage: event("usage", { usage: usageSchema() }),
			turn: event("turn", { contextPercent: maybeAmount }),
			compacting: event("compacting", {}),
			compacted: event("compacted", {
				ok: Type.Boolean(),
				reason: Type.Optional(oneOf("manual", "threshold", "overflow")),
				tokensBefore: maybeAmount,
			}),
			retrying: event("retrying", {
				attempt: amount,
				maxAttempts: amount,
				delayMs: amount,
				error: text,
				retryAfterMs: maybeAmount,
			}),
			falling_back: event("falling_back", { from: text, to: text, error: text }),
			verifying: event("verifying", { command: text }),
			verified: event("verified", { verification: verificationSchema() }),
			idle: event("idle", {}),
			child_started: event("child_started", identitySchema()),
			question: event("question", {
				id: text,
				question: text,
				context: maybeText,
				defaultAnswer: maybeText,
				timeoutMs: maybeAmount,
				dialog: Type.Optional(Type.Unknown()), // `dialogIn` checks it
			}),
			question_over: event("question_over", { id: text }),
			checkpoint: event("checkpoint", { id: text }),
			granted: event("granted", { limits: limitsSchema() }),
			notice: event("notice", { text, level: Type.Optional(oneOf(...NOTICE_LEVELS)) }),
			agent_queued: event("agent_queued", { waits: maybeText }),
			agent_started: event("agent_started", {}),
			agent_steered: event("agent_steered", { message: text }),
			agent_asked: event("agent_asked", {
				question: text,
				isDialog: Type.Optional(Type.Literal(true)),
				to: Type.Optional(oneOf("agent", "session", "user")),
				toName: maybeText,
			}),
			agent_answered: event("agent_answered", { by: Type.Optional(answerer), id: maybeText }),
			moved_to_background: event("moved_to_background", {}),
			agent_settled: event("agent_settled", { status: oneOf("completed", "failed", "aborted") }),
		}) satisfies Record<(ChildEvent | WrapperEvent | LifeCycleLine)["type"], TSchema>,
);

function event<const Name extends string, const Fields extends TProperties>(type: Name, fields: Fields) {
	return Type.Object({ type: Type.Literal(type), at: time, seq: Type.Optional(count), ...fields });
}
