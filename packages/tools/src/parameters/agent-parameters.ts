/** What a call of `Agent` can say, and the launch that it asks for. */
import { AgentError, type AgentRecord } from "@pi-subagents/core";
import { defined, quoted } from "@pi-subagents/core/internal/base";
import { parseOutputSchema } from "@pi-subagents/core/output";
import { DEFAULT_PRESET, type LaunchParams, resumedParams } from "@pi-subagents/launch";
import { isThinkingLevel, THINKING_LEVELS } from "@pi-subagents/progress";
import { type Static, Type } from "typebox";
import { type ModelParameter, machinesListed, verifyOffered } from "./model-parameter.ts";

/** What a call asks for, now or later. */
export type AgentCall = LaunchParams & { name?: string | undefined };

const schedule = {
	schedule: Type.Optional(
		Type.String({
			description: "Cron, 5m, +10m (once) or ISO time; then ; project ; quiet",
		}),
	),
};

const isolation = { isolation: Type.Optional(Type.Literal("worktree")) };

interface Offered {
	machines: readonly string[];
	isBackground: boolean;
	hasSchedule: boolean;
	hasWorktrees: boolean;
	hasVerify: boolean;
}

/** The parameters of the tool; those of features that are switched off are left out. */
export const agentParameters = (
	model: ModelParameter,
	{ isBackground, hasSchedule, hasWorktrees, hasVerify, machines }: Offered,
) =>
	Type.Object({
		prompt: Type.String({ description: "Self-contained" }),
		description: Type.String({ description: "3-5 words" }),
		subagent_type: Type.Optional(Type.String({ description: `Preset; default ${DEFAULT_PRESET}` })),
		name: Type.Optional(Type.String({ description: "Works like its id" })),
		model,
		thinking: Type.Optional(Type.String({ description: "off … max" })),
		max_turns: Type.Optional(Type.Integer({ minimum: 1 })),
		run_in_background: Type.Optional(Type.Boolean({ description: `Default ${isBackground}` })),
		resume: Type.Optional(Type.String({ description: "Finished agent to continue" })),
		isolated: Type.Optional(Type.Boolean({ description: "No extensions, no skills" })),
		output_schema: Type.Optional(
			Type.Unsafe<unknown>({ type: ["object", "string"], description: "JSON Schema of its answer" }),
		),
		...(hasWorktrees ? isolation : ({} as typeof isolation)),
		...verifyOffered({ hasVerify }),
		inherit_context: Type.Optional(Type.Boolean({ description: "Share this conversation" })),
		...machinesListed(machines),
		...(hasSchedule ? schedule : ({} as typeof schedule)),
	});

export type AgentParams = Static<ReturnType<typeof agentParameters>>;

/** As in presets. */
const MAX_TURNS = 100_000;

/** Throws for what cannot be asked for. */
export function agentCallOf(
	params: AgentParams,
	{ hasVerify = false, machines = [] }: Partial<Pick<Offered, "hasVerify" | "machines">>,
	resumed?: AgentRecord,
): LaunchParams {
	const { thinking } = params;
	if (thinking !== undefined && !isThinkingLevel(thinking))
		throw new AgentError("bad_request", `${quoted(thinking)} is no thinking level: ${THINKING_LEVELS.join(", ")}.`);
	if (resumed && params.inherit_context)
		throw new AgentError(
			"bad_request",
			"`inherit_context` cannot go with `resume`: that agent continues its own conversation. Leave one of them out.",
		);
	if (params.max_turns !== undefined && params.max_turns > MAX_TURNS)
		throw new AgentError("bad_request", `max_turns is at most ${MAX_TURNS}; without it there is no such limit.`);
	return {
		preset: params.subagent_type ?? resumed?.type ?? DEFAULT_PRESET,
		task: params.prompt,
		description: params.description,
		model: params.model,
		thinking,
		maxTurns: params.max_turns,
		outputSchema: parseOutputSchema(params.output_schema),
		inheritContext: params.inherit_context,
		...(machines.length > 0 ? { machine: params.machine } : {}),
		...(resumed ? resumedParams(resumed) : {}),
		...defined({ isolated: params.isolated, isolation: params.isolation }),
		...(machines.length > 0 ? defined({ retry: params.retry }) : {}),
		...(hasVerify && params.verify !== undefined
			? { verify: params.verify, verifyBy: undefined, isVerifyKept: false }
			: {}),
	};
}
