/** The schema of `result.json`: how a run ended, and what it used. */
import type { Outcome, Structured, Unstructured, Usage, Verification, WorktreeReport } from "@pi-subagents/progress";
import { Type } from "typebox";
import { once } from "../../base/values.ts";
import {
	aborter,
	amount,
	count,
	cutBy,
	id,
	maybeAmount,
	maybeText,
	objectOf,
	oneOf,
	runNumber,
	text,
	texts,
	time,
} from "./kinds.ts";
import type { ResultFile } from "./layout.ts";

export const usageSchema = once(() =>
	objectOf<Usage>()({
		input: amount,
		output: amount,
		cacheRead: amount,
		cacheWrite: amount,
		cost: amount,
		costFromProvider: Type.Optional(Type.Literal(true)),
	}),
);

type Completed = Extract<Outcome, { status: "completed" }>;
/** Who claims it is decided by those who read it. */
type Failed = Omit<Extract<Outcome, { status: "failed" }>, "claimedBy">;
type Aborted = Omit<Extract<Outcome, { status: "aborted" }>, "claimedBy">;

const structured = once(() => objectOf<Structured>()({ ok: Type.Literal(true), data: Type.Unknown(), preview: text }));

const unstructured = once(() =>
	objectOf<Unstructured>()({
		ok: Type.Literal(false),
		error: text,
		validationErrors: Type.Array(Type.Object({ path: text, message: text })),
		rawPreview: text,
	}),
);

export const worktreeReportSchema = once(() =>
	objectOf<WorktreeReport>()({
		branch: maybeText,
		path: maybeText,
		base: text,
		files: count,
		insertions: count,
		deletions: count,
		merge: maybeText,
		problems: Type.Optional(texts),
	}),
);

export const verificationSchema = once(() =>
	objectOf<Verification>()({
		ok: Type.Boolean(),
		command: maybeText,
		on: maybeText,
		durationMs: maybeAmount,
		problem: maybeText,
		tail: maybeText,
	}),
);

const outcome = once(() =>
	Type.Union([
		objectOf<Completed>()({
			status: Type.Literal("completed"),
			text,
			omitted: maybeAmount,
			wrappedUp: Type.Optional(Type.Literal(true)),
			by: Type.Optional(cutBy),
			structured: Type.Optional(structured()),
			verification: Type.Optional(verificationSchema()),
			worktree: Type.Optional(worktreeReportSchema()),
		}),
		objectOf<Failed>()({
			status: Type.Literal("failed"),
			error: text,
			partialText: maybeText,
			omitted: maybeAmount,
			structured: Type.Optional(unstructured()),
			verification: Type.Optional(verificationSchema()),
			worktree: Type.Optional(worktreeReportSchema()),
		}),
		objectOf<Aborted>()({
			status: Type.Literal("aborted"),
			by: aborter,
			reason: maybeText,
			partialText: maybeText,
			omitted: maybeAmount,
			worktree: Type.Optional(worktreeReportSchema()),
		}),
	]),
);

export const resultSchema = once(() =>
	objectOf<ResultFile>()({
		format: Type.Literal(1),
		runId: id,
		agentId: id,
		run: runNumber,
		writtenBy: oneOf("wrapper", "watcher", "parent"),
		outcome: outcome(),
		finalText: maybeText,
		stopReason: maybeText,
		resolvedModel: maybeText,
		startedAt: time,
		completedAt: time,
		durationMs: maybeAmount,
		turns: count,
		toolUses: count,
		usage: usageSchema(),
		exitCode: Type.Optional(Type.Integer()),
		exitSignal: maybeText,
		lost: Type.Optional(texts),
	}),
);
