/** What is fixed about an agent when it is launched, defined once: record, run files, session entries and bus derive from it. */
import { LAUNCHERS } from "@pi-subagents/progress";
import { count, id, maybeAmount, maybeText, type Of, oneOf, schema } from "@pi-subagents/progress/schema";
import { Type } from "typebox";
import { defined } from "../../base/values.ts";
import { type SpecFields, specSchema } from "./spec.ts";

/** What a launch says about an agent besides its spec. */
export interface LaunchInfo extends Of<typeof launchInfoSchema> {}

export const launchInfoSchema = schema(() =>
	Type.Object({
		/** A memorable handle, beside the id. */
		name: maybeText,
		parentAgentId: Type.Optional(id),
		/** 1 for an agent that the user's session launched. */
		depth: count,
		isBackground: Type.Boolean(),
		/** Who asked for the current run. Absent in entries of older versions. */
		launchedBy: Type.Optional(oneOf(LAUNCHERS)),
		/** The tool call that asked for it, if a model did. */
		callId: maybeText,
		/** The part of a workflow that it belongs to. */
		phase: maybeText,
	}),
);

/** What is fixed at launch: what the launch says, and what of the spec its readers need. */
export interface AgentIdentity extends Of<typeof agentIdentitySchema> {}

export const agentIdentitySchema = schema(() =>
	Type.Object({
		...launchInfoSchema().properties,
		...sharedFields(),
		/** `provider/id`. */
		model: maybeText,
		maxTurns: maybeAmount,
		/** It has its own checkout. */
		isolation: Type.Optional(Type.Literal("worktree")),
		/** The directory of the current run's files, if any are kept. */
		artifacts: maybeText,
	}),
);

/** Fields that a spec and an identity share, with one meaning. */
const sharedFields = schema(() => {
	const { type, description, task, cwd, runner, machine, launcher, requestedModel, outlives, given } =
		specSchema().properties;
	return { type, description, task, cwd, runner, machine, launcher, requestedModel, outlives, given };
});

/** The agent as the `agent_queued` event describes it. */
export function agentIdentity(spec: SpecFields & { artifacts?: string }, launch: LaunchInfo): AgentIdentity {
	const shared: Record<string, unknown> = {};
	for (const field of Object.keys(sharedFields()) as (keyof SpecFields)[])
		if (spec[field] !== undefined) shared[field] = spec[field];
	const { model, limits, isolation, artifacts } = spec;
	return {
		...launch,
		...(shared as Pick<SpecFields, "type" | "description" | "task" | "cwd" | "runner">),
		model,
		...defined({ maxTurns: limits.maxTurns, artifacts, isolation: isolation?.kind }),
	};
}
