/** What a caller may ask for. */
import type { AgentRecord, GivenByCall, OutputSpec, RunnerName, ThinkingLevel } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { isThinkingLevel } from "@pi-subagents/progress";

/** The preset of a launch that names none. */
export const DEFAULT_PRESET = "general-purpose";

/** What a caller asks for: everything that can differ from one launch to the next. */
export interface LaunchParams {
	/** The preset's name, in any case. */
	preset: string;
	/** The preset to use if there is none of that name; `false`: none. Absent: as the settings say. */
	fallbackPreset?: string | false | undefined;
	task: string;
	/** A few words for lists; made from the task when absent. */
	description?: string | undefined;
	model?: string | undefined;
	/** The call or the preset must name a model; otherwise the session's is inherited. See `LaunchRequest`. */
	requiresModel?: boolean;
	cwd?: string | undefined;
	thinking?: ThinkingLevel | undefined;
	maxTurns?: number | undefined;
	/** Without any extension or skill. */
	isolated?: boolean | undefined;
	/** Exactly these tools whatever the preset says, and no sub-agents. */
	tools?: readonly string[] | undefined;
	/** A JSON Schema that the answer must match. */
	outputSchema?: OutputSpec["schema"] | undefined;
	/** A command that checks the agent's work, as in presets: text, a list, or a mapping. `verifyBy` says who may name one. */
	verify?: unknown;
	/**
	 * Who named that command. The model, which is meant if this is absent, needs the setting `verifyCalls` and, because it
	 * runs a command with this, the tool `bash`; so does the user's script, without the setting. An extension can run
	 * commands anyway.
	 */
	verifyBy?: "user" | "extension" | undefined;
	/** An earlier call named it. If it may not be run any more, the agent works without it, and its result says so. */
	isVerifyKept?: boolean | undefined;
	isolation?: "worktree" | "off" | undefined;
	inheritContext?: boolean | undefined;
	/** It runs when no conversation is there, so it is refused if the call or the preset wants to inherit one. */
	standsAlone?: boolean;
	/** What a resumed agent ran in before: its conversation is there. */
	runner?: RunnerName | undefined;
	/** The launcher that a resumed agent ran inside before: it runs inside it again, unless another one is named now. */
	launcher?: string | undefined;
	/** The machine to run on: one that the user defined, `local`, or `here`. */
	machine?: string | undefined;
	/** `lost`: it is run again, once and from the start, if that machine loses it. */
	retry?: "lost" | "off" | undefined;
	/**
	 * The run continues when the session ends, in its own process whatever the preset says. `if_process`: only if it has
	 * one anyway, here or on another machine.
	 */
	outlives?: boolean | "if_process";
	/** Only for a preview: nothing is created on disk, and the spec must not be run. */
	isTrial?: boolean;
}

/**
 * What the next run of a finished agent shares with its last one: where and how it runs, which tools it may have, and the
 * command that checks it, if that is still allowed. A new call says the rest.
 *
 * @example
 * ```ts
 * const record = manager.store.record(id);
 * const { spec } = await launcher.resolve({ preset: record.type, task: "Go on.", ...resumedParams(record) }, ctx);
 * ```
 */
export function resumedParams({ cwd, runner, machine, launcher, isolation, launchedBy, given = {} }: AgentRecord) {
	const { isolated, tools, verify, retry } = given;
	// Older versions did not note who named the command.
	const verifyBy = given.verifyBy ?? (launchedBy === "rpc" ? ("extension" as const) : undefined);
	const checked = verify === undefined ? {} : { verify, verifyBy, isVerifyKept: true };
	return {
		cwd,
		runner,
		machine,
		launcher,
		isolation,
		isolated,
		tools,
		retry,
		...checked,
	} satisfies Partial<LaunchParams>;
}

/** The same for an agent that was interrupted: it continues the same task, so all of what the call said counts again. */
export function continuedParams(record: AgentRecord) {
	const { thinking, maxTurns, outputSchema } = record.given ?? {};
	const level = isThinkingLevel(thinking) ? thinking : undefined;
	return { ...resumedParams(record), model: record.requestedModel, thinking: level, maxTurns, outputSchema };
}

/** What a record keeps of a call, for both. */
export function givenIn(params: LaunchParams): GivenByCall {
	const { thinking, maxTurns, outputSchema, isolated, tools, verify, retry } = params;
	const verifyBy = verify === undefined ? undefined : params.verifyBy;
	return defined({ thinking, maxTurns, outputSchema, isolated, tools, verify, verifyBy, retry });
}
