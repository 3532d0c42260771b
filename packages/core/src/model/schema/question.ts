/** A question of an agent and its answer, defined once: what is asked in process, sent by a wrapper, and stored. */
import { ADDRESSEES } from "@pi-subagents/progress";
import { maybeAmount, maybeFlag, maybeText, type Of, oneOf, schema, text } from "@pi-subagents/progress/schema";
import { Type } from "typebox";

export interface Question extends Of<typeof questionSchema> {}

export const questionSchema = schema(() =>
	Type.Object({
		question: text,
		/** Background for the one who answers. */
		context: maybeText,
		/** Used if no answer comes in time. */
		defaultAnswer: maybeText,
		/** How long to wait before the default is used; forever when absent. */
		timeoutMs: maybeAmount,
		/** Only a person may answer: neither an agent above nor the session's model. */
		isForUser: maybeFlag,
	}),
);

/** Why no one answered: the user saw the question and dismissed it, its time was up, or no one could be asked. */
export const WHY_UNANSWERED = ["dismissed", "timeout", "absent"] as const;

export type WhyUnanswered = (typeof WHY_UNANSWERED)[number];

/** Whose answer it is; with `nobody` the agent must decide by itself. */
export type Answer = Of<typeof answerSchema>;

export const answerSchema = schema(() => {
	const why = Type.Optional(oneOf(WHY_UNANSWERED)); // absent in files of older versions
	return Type.Union([
		Type.Object({ by: oneOf(ADDRESSEES), text }),
		Type.Object({ by: Type.Literal("default"), text, why }),
		Type.Object({ by: Type.Literal("nobody"), why }),
	]);
});
