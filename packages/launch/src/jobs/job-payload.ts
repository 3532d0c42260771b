/** What a job launches, as it is kept on disk: a call with everything but its time. Checked when it is read back. */
import { AgentError } from "@pi-subagents/core";
import { normalName, visibleName } from "@pi-subagents/core/internal/base";
import { isThinkingLevel, sanitize } from "@pi-subagents/progress";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import type { LaunchParams } from "../launch-params.ts";

const callSchema = Type.Object({
	preset: Type.String({ minLength: 1 }),
	task: Type.String(),
	description: Type.String(),
	name: Type.Optional(Type.String()),
	model: Type.Optional(Type.String()),
	cwd: Type.Optional(Type.String()),
	thinking: Type.Optional(Type.String()),
	maxTurns: Type.Optional(Type.Integer({ minimum: 1 })),
	isolated: Type.Optional(Type.Boolean()),
	isolation: Type.Optional(Type.Enum(["worktree", "off"])),
	machine: Type.Optional(Type.String()),
	retry: Type.Optional(Type.Enum(["lost", "off"])),
	outputSchema: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: "object" })),
	verify: Type.Optional(Type.Unknown()),
	/** A workflow instead of an agent: what the call of its tool says. */
	workflow: Type.Optional(
		Type.Object({
			script: Type.Optional(Type.String()),
			path: Type.Optional(Type.String()),
			name: Type.Optional(Type.String()),
			args: Type.Optional(Type.Unknown()),
		}),
	),
	/** A success is not announced. */
	quiet: Type.Boolean(),
});

export type KeptCall = LaunchParams & Omit<Static<typeof callSchema>, "thinking">;

/** What a job may be made from. */
export type ScheduledCall = LaunchParams & { name?: string | undefined; workflow?: ScheduledWorkflow | undefined };

interface ScheduledWorkflow {
	script?: string | undefined;
	path?: string | undefined;
	name?: string | undefined;
	args?: unknown;
}

/** The call that runs a workflow; lists show what it is called. */
export function workflowJob(workflow: ScheduledWorkflow): ScheduledCall {
	const { name, path, script = "" } = workflow;
	const description = name ?? path ?? /\bname:\s*["'`]([^"'`\n]{1,80})/.exec(script)?.[1] ?? "script";
	return { preset: "workflow", task: `Run the workflow ${description}`, description, workflow };
}

/** It is what lists call the job. */
const MAX_DESCRIPTION = 80;

/** As for any agent; each firing would fail. */
const LONGEST_NAME = 100;

/** Plain JSON, with nothing that was not said. */
export function keptCall(call: ScheduledCall, quiet: boolean): KeptCall {
	if ((call.name ?? "").trim().length > LONGEST_NAME)
		throw new AgentError("bad_request", `The name is too long: at most ${LONGEST_NAME} characters can be used.`);
	const said = Object.entries(call).filter(([, value]) => value !== undefined);
	const name = call.name === undefined ? {} : { name: visibleName(call.name, "name") };
	// Its name in lists. One made from the task is not checked: the user did not write it as a name.
	const called = call.description?.trim() ? visibleName(call.description, "description") : normalName(call.task);
	const description = sanitize(called).slice(0, MAX_DESCRIPTION);
	return { ...Object.fromEntries(said), ...name, description, quiet } as KeptCall;
}

/** What else a file may say does not count: a job can do no more than a call. */
export function parseCall(payload: unknown): KeptCall {
	if (!Check(callSchema, payload) || (payload.thinking !== undefined && !isThinkingLevel(payload.thinking)))
		throw new Error("The call of this job cannot be read from its file. Remove the job and schedule it again.");
	const known = Object.entries(payload).filter(([field]) => Object.hasOwn(callSchema.properties, field));
	return Object.fromEntries(known) as unknown as KeptCall;
}
