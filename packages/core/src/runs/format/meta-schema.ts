/** The schemas of what a run is, and of which process watches it: `meta.json`, `owner-<n>.json`. */
import { Type } from "typebox";
import { once } from "../../base/values.ts";
import { identitySchema } from "../../signals/identity.ts";
import { count, id, maybeText, objectOf, runNumber, text, texts, time } from "./kinds.ts";
import type { Meta, PiLaunch, RunLauncher } from "./layout.ts";
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
		holder: Type.Optional(Type.Object(identitySchema())),
	}),
);

export const ownerSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("owned"), at: time, sessionId: maybeText, ...identitySchema() }),
		Type.Object({ type: Type.Literal("released"), at: time }),
	]),
);
