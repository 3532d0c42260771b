/** How a run settles and what it used: the schemas, and the types that are made from them. */
import { Type } from "typebox";
import { amount, count, listOf, maybeAmount, maybeText, maybeTrue, type Of, oneOf, schema, text } from "./kinds.ts";
import { ABORTERS, CLAIMANTS, CUTTERS } from "./vocabulary.ts";

/** Tokens and money. `cacheRead` is billed but is not new work. */
export interface Usage extends Of<typeof usageSchema> {}

export const usageSchema = schema(() =>
	Type.Object({
		input: amount,
		output: amount,
		cacheRead: amount,
		cacheWrite: amount,
		/** In US dollars. */
		cost: amount,
		/** The provider itself reported all of the cost. Otherwise it is, at least in part, pi's estimate. */
		costFromProvider: maybeTrue,
	}),
);

/** How a run settled. A failure is a value, never a rejected promise. */
export type Outcome = Completed | Failed | Aborted;

export interface Completed extends Of<typeof completedSchema> {}

const completedSchema = schema(() =>
	Type.Object({
		status: Type.Literal("completed"),
		/** The child's last message. */
		text,
		/** How many characters of the text are omitted here. The files of the run contain them, if they could be written. */
		omitted: maybeAmount,
		/** The child was asked to finish before it was done. */
		wrappedUp: maybeTrue,
		/** The limit that it was close to then, if not that of its turns. */
		by: Type.Optional(oneOf(CUTTERS)),
		/** The answer as data that matches the schema, if one was requested; or what the verifying command printed. */
		structured: Type.Optional(structuredSchema()),
		/** What the command that checks its work said, if there is one. */
		verification: Type.Optional(verificationSchema()),
		/** The state of its git worktree, if it had one. */
		worktree: Type.Optional(worktreeReportSchema()),
	}),
);

export interface Failed extends Of<typeof failedSchema> {}

const failedSchema = schema(() =>
	Type.Object({
		status: Type.Literal("failed"),
		error: text,
		/** Absent: a process of ours saw it. */
		claimedBy: Type.Optional(oneOf(CLAIMANTS)),
		/** What the child had written before it failed. */
		partialText: maybeText,
		/** How many characters of that are omitted here. */
		omitted: maybeAmount,
		/** Why the answer does not match the requested schema, if that is the failure. */
		structured: Type.Optional(unstructuredSchema()),
		/** What the command that checks its work said, if that is the failure. */
		verification: Type.Optional(verificationSchema()),
		/** The state of its git worktree, if it had one. */
		worktree: Type.Optional(worktreeReportSchema()),
	}),
);

export interface Aborted extends Of<typeof abortedSchema> {}

const abortedSchema = schema(() =>
	Type.Object({
		status: Type.Literal("aborted"),
		by: oneOf(ABORTERS),
		reason: maybeText,
		/** Absent: a process of ours saw it. */
		claimedBy: Type.Optional(oneOf(CLAIMANTS)),
		/** What the child had written before it was stopped, including an incomplete message. */
		partialText: maybeText,
		/** How many characters of that are omitted here. */
		omitted: maybeAmount,
		/** The state of its git worktree, if it had one. */
		worktree: Type.Optional(worktreeReportSchema()),
	}),
);

export const outcomeSchema = schema(() => Type.Union([completedSchema(), failedSchema(), abortedSchema()]));

/** How a run settled, without what was said: the rest is small. */
export type OutcomeFacts = Of<typeof outcomeFactsSchema>;

export const outcomeFactsSchema = schema(() =>
	Type.Union([
		Type.Omit(completedSchema(), ["text", "omitted", "structured"]),
		Type.Omit(failedSchema(), ["partialText", "omitted", "structured"]),
		Type.Omit(abortedSchema(), ["partialText", "omitted"]),
	]),
);

/** An answer that matches its schema. */
export interface Structured extends Of<typeof structuredSchema> {}

export const structuredSchema = schema(() =>
	Type.Object({
		ok: Type.Literal(true),
		/** What the child answered, as JSON. */
		data: Type.Unknown(),
		/** A short excerpt, for people. */
		preview: text,
	}),
);

/** One mismatch between an answer and its schema. */
export interface ValidationError extends Of<typeof validationErrorSchema> {}

const validationErrorSchema = schema(() =>
	Type.Object({
		/** A JSON Pointer; `""` is the whole answer. */
		path: text,
		message: text,
	}),
);

/** An answer that does not match its schema. */
export interface Unstructured extends Of<typeof unstructuredSchema> {}

const unstructuredSchema = schema(() =>
	Type.Object({
		ok: Type.Literal(false),
		error: text,
		validationErrors: listOf(validationErrorSchema()),
		/** The start of the child's answer. */
		rawPreview: text,
	}),
);

/** What the command that checks an agent's work said, or why it did not run. */
export interface Verification extends Of<typeof verificationSchema> {}

export const verificationSchema = schema(() =>
	Type.Object({
		ok: Type.Boolean(),
		/** On one line. Absent if it did not run. */
		command: maybeText,
		/** The machine that ran it and says so, if that is not this one. */
		on: maybeText,
		durationMs: maybeAmount,
		/** Why the work is not verified. */
		problem: maybeText,
		/** The end of what a failed command printed. */
		tail: maybeText,
	}),
);

/** The state of an agent's git worktree after its run. */
export interface WorktreeReport extends Of<typeof worktreeReportSchema> {}

export const worktreeReportSchema = schema(() =>
	Type.Object({
		/** The branch with the changes; absent when there are none. */
		branch: maybeText,
		/** The directory of the worktree; absent when it was removed. */
		path: maybeText,
		/** The commit that the agent started from. */
		base: text,
		files: count,
		insertions: count,
		deletions: count,
		/** A command that merges the changes, ready to paste. */
		merge: maybeText,
		/** What went wrong, and where the changes are instead. May repeat names that the agent chose. */
		problems: Type.Optional(listOf(text)),
	}),
);
