/** `meta.json`: what a run is. Written before anything starts, for people and for the wrapper; never changed. */

import { launchInfoSchema } from "@pi-subagents/core/internal/run";
import { identitySchema } from "@pi-subagents/core/internal/signals";
import { specSchema } from "@pi-subagents/core/schema";
import { id, maybeText, type Of, runNumber, schema, text, texts, time } from "@pi-subagents/progress/schema";
import { Type } from "typebox";

export interface Meta extends Of<typeof metaSchema> {}

export const metaSchema = schema(() =>
	Type.Object({
		format: Type.Literal(1),
		createdBy: Type.Literal("pi-subagents"),
		runId: id,
		agentId: id,
		run: runNumber,
		/** Whole milliseconds since the epoch, as every time in these files. */
		createdAt: time,
		/** When it was launched: before `createdAt` if it then waited for a slot. */
		queuedAt: time,
		...launchFields(),
		/** Who asked for it. Absent if no launch was recorded. */
		launchedBy: Type.Optional(runLauncherSchema()),
		/** The parent's pi session. */
		parentSessionId: maybeText,
		preset: text,
		/** The preset's file. */
		presetSource: maybeText,
		task: text,
		cwd: text,
		tools: texts,
		systemPrompt: maybeText,
		systemPromptPath: maybeText,
		requestedModel: maybeText,
		resolvedModel: text,
		/** The machine that it runs on, by its name in the user's settings. Absent: this one. */
		machine: maybeText,
		/** The program that it runs inside, by its name in the user's settings. Absent: none. */
		launcher: maybeText,
		/** The resolved spec, so that the run can be rejoined with its limits. */
		spec: specSchema(),
		/** Absent for a run inside the parent's process. */
		launch: Type.Optional(piLaunchSchema()),
		/** The process that it runs in, if it has none of its own. */
		holder: Type.Optional(Type.Object(identitySchema())),
	}),
);

/** What a launch says, as far as it is not in `launchedBy`. */
const launchFields = schema(() => {
	const { parentAgentId, launchedBy, callId, ...same } = launchInfoSchema().properties;
	return same;
});

/** Who asked for a run: one of `LAUNCHERS`, or what a newer version knows. */
const runLauncherSchema = schema(() =>
	Type.Object({
		who: text,
		/** The agent whose model asked. Absent if the session's did, or the user. */
		agentId: maybeText,
		/** The tool call of that model. */
		callId: maybeText,
	}),
);

/** How the wrapper starts pi. Arguments are passed as they are, without a shell. */
export interface PiLaunch extends Of<typeof piLaunchSchema> {}

const piLaunchSchema = schema(() =>
	Type.Object({
		command: text,
		args: texts,
		/** The program that pi and the run's checks are started inside, with its arguments. Absent: none. */
		around: Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(text, { minItems: 1 }))),
		/** Added to the wrapper's own environment. */
		env: Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Type.String(), text)),
		/** Whether the wrapper prints progress on its terminal. */
		showsProgress: Type.Boolean(),
	}),
);
