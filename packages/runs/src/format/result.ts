/** `result.json`: how a run ended. Written atomically, last of all by the wrapper, or by a watcher that found the wrapper gone. */
import {
	count,
	id,
	maybeAmount,
	maybeText,
	maybeTexts,
	type Of,
	oneOf,
	outcomeSchema,
	runNumber,
	schema,
	time,
	usageSchema,
} from "@pi-subagents/progress/schema";
import { Type } from "typebox";

export interface ResultFile extends Of<typeof resultSchema> {}

export const resultSchema = schema(() =>
	Type.Object({
		format: Type.Literal(1),
		runId: id,
		agentId: id,
		run: runNumber,
		/** For people who read the file. Who is to be believed depends on where the file came from, never on this. */
		writtenBy: oneOf(["wrapper", "watcher", "parent"]),
		outcome: outcomeSchema(),
		/** The answer, or the part there was. */
		finalText: maybeText,
		stopReason: maybeText,
		resolvedModel: maybeText,
		startedAt: time,
		/** Never before `startedAt`. */
		completedAt: time,
		/** In whole milliseconds, by the steady clock if one process saw all of it. Absent in older files. */
		durationMs: maybeAmount,
		turns: count,
		toolUses: count,
		usage: usageSchema(),
		/** How pi's process ended, if that was seen. It does not determine the outcome. */
		exitCode: Type.Optional(Type.Integer()),
		exitSignal: maybeText,
		/** What could not be written. */
		lost: maybeTexts,
	}),
);
