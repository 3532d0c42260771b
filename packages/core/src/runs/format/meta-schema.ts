/** The schemas of what a run is, and of which processes run and watch it: `meta.json`, `wrapper.json`, `owner-<n>.json`. */
import { type TSchema, Type } from "typebox";
import { once } from "../../base/values.ts";
import { count, id, maybeText, objectOf, runNumber, text, texts, time } from "./kinds.ts";
import type { Meta, PiLaunch, ProcessIdentity, RunLauncher } from "./layout.ts";
import { specSchema } from "./spec-schema.ts";

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
