/**
 * Schemas for the shapes in `layout.ts`. Unknown fields are allowed. Each is built on first use: most sessions read
 * no run at all, and building them would delay their start.
 */
import type {
	ChildEvent,
	Outcome,
	Structured,
	Unstructured,
	Usage,
	Verification,
	WorktreeReport,
} from "@pi-subagents/progress";
import { type TProperties, type TSchema, Type } from "typebox";
import { once } from "../base/values.ts";
import type { GivenByCall } from "../model/event.ts";
import { WHY_UNANSWERED } from "../model/question.ts";
import type { McpSpec, OutputSpec, RunSpec, Stop, VerifySpec, WorktreeSetup } from "../model/runner.ts";
import type {
	LifeCycleLine,
	LiveLine,
	Meta,
	PiLaunch,
	ProcessIdentity,
	ResultFile,
	RunLauncher,
	WrapperEvent,
} from "./layout.ts";

const text = Type.String();
const maybeText = Type.Optional(text);
const texts = Type.Array(text);
const amount = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const maybeAmount = Type.Optional(amount);
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since the epoch, within the range of `Date`. */
const time = Type.Number({ minimum: 0, maximum: 8.64e15 });
/** It becomes a directory name, so it must not lead elsewhere. */
const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
const runNumber = Type.Integer({ minimum: 1, maximum: 1_000_000 });

function oneOf<const T extends string>(...values: T[]) {
	return Type.Enum(values);
}

/** Fails to compile if a field of `Shape` has no schema. */
export function objectOf<Shape>() {
	return <const Fields extends TProperties & Record<keyof Shape & string, TSchema>>(fields: Fields) =>
		Type.Object(fields);
}

const usage = once(() =>
	objectOf<Usage>()({
		input: amount,
		output: amount,
		cacheRead: amount,
		cacheWrite: amount,
		cost: amount,
		costFromProvider: Type.Optional(Type.Literal(true)),
	}),
);

const cutBy = oneOf("timeout", "budget");

const aborter = oneOf("user", "parent", "turns", "timeout", "idle", "budget", "shutdown", "lost");

type Completed = Extract<Outcome, { status: "completed" }>;
type Failed = Extract<Outcome, { status: "failed" }>;
type Aborted = Extract<Outcome, { status: "aborted" }>;

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

const verificationSchema = once(() =>
	objectOf<Verification>()({
		ok: Type.Boolean(),
		command: maybeText,
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
		usage: usage(),
		exitCode: Type.Optional(Type.Integer()),
		exitSignal: maybeText,
		lost: Type.Optional(texts),
	}),
);

const limits = once(() =>
	objectOf<RunSpec["limits"]>()({
		maxTurns: maybeAmount,
		graceTurns: maybeAmount,
		timeoutMs: maybeAmount,
		toolTimeoutMs: maybeAmount,
		idleTimeoutMs: maybeAmount,
		budgetTokens: maybeAmount,
		budgetCost: maybeAmount,
		wrapUpPercent: maybeAmount,
		stalledAfterMs: maybeAmount,
	}),
);

const chosen = once(() => Type.Optional(Type.Union([Type.Boolean(), texts])));

export const specSchema = once(() =>
	objectOf<RunSpec>()({
		type: text,
		description: text,
		task: text,
		cwd: text,
		runner: oneOf("session", "process", "tmux", "remote", "workflow"),
		machine: maybeText,
		retry: Type.Optional(Type.Literal("lost")),
		launcher: maybeText,
		model: text,
		thinking: Type.Optional(oneOf("off", "minimal", "low", "medium", "high", "xhigh", "max")),
		tools: texts,
		mcp: Type.Optional(
			objectOf<McpSpec>()({
				servers: texts,
				denied: Type.Optional(texts),
				isOptional: Type.Optional(Type.Literal(true)),
			}),
		),
		systemPrompt: Type.Optional(Type.Object({ mode: oneOf("append", "replace"), text })),
		extensions: chosen(),
		excludeExtensions: Type.Optional(texts),
		skills: chosen(),
		subagents: Type.Optional(Type.Union([Type.Literal("*"), texts])),
		output: Type.Optional(objectOf<OutputSpec>()({ schema: Type.Record(text, Type.Unknown()), repairs: count })),
		verify: Type.Optional(
			Type.Union([
				objectOf<VerifySpec>()({
					command: Type.Union([text, texts]),
					timeoutMs: maybeAmount,
					output: Type.Optional(Type.Literal("json")),
					schema: Type.Optional(Type.Record(text, Type.Unknown())),
					repairs: count,
				}),
				Type.Object({ skipped: text }),
			]),
		),
		fallbackModels: Type.Optional(texts),
		isolation: Type.Optional(
			objectOf<NonNullable<RunSpec["isolation"]>>()({
				kind: Type.Literal("worktree"),
				base: oneOf("head", "dirty"),
				setup: Type.Optional(
					objectOf<WorktreeSetup>()({
						dir: maybeText,
						link: Type.Optional(texts),
						include: Type.Optional(texts),
						readsIncludeFile: Type.Optional(Type.Boolean()),
						setup: Type.Optional(Type.Union([text, texts])),
						setupTimeoutMs: maybeAmount,
					}),
				),
			}),
		),
		confinedTo: Type.Optional(Type.Object({ root: text, records: maybeText, origin: text, watches: texts })),
		inheritsContext: Type.Optional(Type.Boolean()),
		compactsFirst: Type.Optional(Type.Literal(true)),
		memory: Type.Optional(oneOf("project", "local", "user")),
		memoryDir: maybeText,
		outlives: Type.Optional(Type.Boolean()),
		runsDir: maybeText,
		presetSource: maybeText,
		requestedModel: maybeText,
		limits: limits(),
		given: Type.Optional(
			objectOf<GivenByCall>()({
				thinking: maybeText,
				maxTurns: maybeAmount,
				outputSchema: Type.Optional(Type.Record(text, Type.Unknown())),
				isolated: Type.Optional(Type.Boolean()),
				tools: Type.Optional(texts),
				verify: Type.Optional(Type.Unknown()),
			}),
		),
		origins: Type.Record(text, oneOf("call", "settings", "preset", "parent", "default")),
		warnings: texts,
	}),
);

const launch = once(() =>
	objectOf<PiLaunch>()({
		command: text,
		args: texts,
		around: Type.Optional(Type.Array(text, { minItems: 1 })),
		env: Type.Record(text, text),
		showsProgress: Type.Boolean(),
	}),
);

export const metaSchema = once(() =>
	objectOf<Meta>()({
		format: Type.Literal(1),
		createdBy: Type.Literal("pi-subagents"),
		runId: id,
		agentId: id,
		run: runNumber,
		createdAt: time,
		queuedAt: Type.Optional(time),
		launchedBy: Type.Optional(objectOf<RunLauncher>()({ who: text, agentId: maybeText, callId: maybeText })),
		depth: Type.Optional(count),
		name: maybeText,
		phase: maybeText,
		isBackground: Type.Optional(Type.Boolean()),
		parentSessionId: maybeText,
		preset: text,
		presetSource: maybeText,
		task: text,
		cwd: text,
		tools: texts,
		systemPrompt: maybeText,
		systemPromptPath: maybeText,
		requestedModel: maybeText,
		resolvedModel: text,
		machine: maybeText,
		launcher: maybeText,
		spec: specSchema(),
		launch: Type.Optional(launch()),
		holder: Type.Optional(Type.Object(identity())),
	}),
);

export const identity = once(
	() =>
		({
			pid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
			born: Type.Union([text, Type.Null()]),
			host: text,
			boot: Type.Union([text, Type.Null()]),
			space: Type.Optional(Type.Union([text, Type.Null()])), // absent in earlier versions
		}) satisfies Record<keyof ProcessIdentity, TSchema>,
);

export const wrapperSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("started"), at: time, ...identity() }),
		Type.Object({ type: Type.Literal("given_up"), at: time }),
	]),
);

export const ownerSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("owned"), at: time, sessionId: maybeText, ...identity() }),
		Type.Object({ type: Type.Literal("released"), at: time }),
	]),
);

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

/** A line of `control.jsonl`. */
export const controlSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("steer"), message: text }),
		Type.Object({ type: Type.Literal("wrap_up"), reason: maybeText, by: Type.Optional(cutBy) }),
		Type.Object({ type: Type.Literal("watch"), id: maybeText }),
		Type.Object({ type: Type.Literal("abort"), stop: stop() }),
		Type.Object({ type: Type.Literal("answer"), id: text, answer: answer() }),
		Type.Object({
			type: Type.Literal("pass"),
			id: text,
			word: oneOf("go", "end"),
			limits: Type.Optional(limits()),
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
			usage: event("usage", { usage: usage() }),
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
			child_started: event("child_started", identity()),
			question: event("question", {
				id: text,
				question: text,
				context: maybeText,
				defaultAnswer: maybeText,
				timeoutMs: maybeAmount,
			}),
			question_over: event("question_over", { id: text }),
			checkpoint: event("checkpoint", { id: text }),
			granted: event("granted", { limits: limits() }),
			notice: event("notice", { text }),
			agent_queued: event("agent_queued", { waits: maybeText }),
			agent_started: event("agent_started", {}),
			agent_steered: event("agent_steered", { message: text }),
			agent_asked: event("agent_asked", {
				question: text,
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
