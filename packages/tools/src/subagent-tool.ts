/** `subagent`: run a preset on a task, or several at once, and wait for the answers. */
import { defineTool, type ExtensionContext, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type RunSpec, type Store, treeUsage } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import {
	type AgentDetails,
	detailsOf,
	outcomeForModel,
	outcomesForModel,
	saidOf,
} from "@pi-subagents/core/outcome-text";
import { type Static, Type } from "typebox";
import {
	type MachineParameter,
	type ModelParameter,
	machineOffered,
	modelParameter,
	type VerifyParameter,
	verifyOffered,
} from "./parameters/model-parameter.ts";
import type { AgentSpawner, ResolveSpec } from "./ports.ts";
import { renderAgentCall } from "./render/call.ts";
import { renderAgentResult } from "./render/result.ts";
import { bounded } from "./waiting/bounded.ts";
import type { KeepDetails } from "./waiting/failed-details.ts";
import {
	type AgentWaiter,
	type Finished,
	finish,
	type Launched,
	type OnGivenUp,
	progressUpdate,
} from "./waiting/foreground.ts";
import { givesData, scriptResultOf, scriptResultOfAll, settledResult } from "./waiting/script-result.ts";
import type { UsageReport } from "./waiting/usage-report.ts";

const parametersFor = (model: ModelParameter, offered: VerifyParameter & MachineParameter) =>
	Type.Object({
		preset: Type.Optional(Type.String()),
		task: Type.Optional(Type.String({ description: "Self-contained" })),
		model,
		cwd: Type.Optional(Type.String()),
		...offered,
		tasks: Type.Optional(
			Type.Array(
				Type.Object({
					preset: Type.String(),
					task: Type.String(),
					model: Type.Optional(Type.String()),
					cwd: Type.Optional(Type.String()),
					...offered,
				}),
				{ description: "Several at once" },
			),
		),
	});

type Params = Static<ReturnType<typeof parametersFor>>;
type Asked = NonNullable<Params["tasks"]>[number];

/** The agents of one call, in the order of its tasks. */
export interface SubagentDetails {
	agents: AgentDetails[];
	/** In updates: the first agent, and the call that waits for it. Readers of `--mode json` find out what belongs to what. */
	agentId?: string;
	parentToolCallId?: string;
}

export interface SubagentToolDeps {
	agents: AgentSpawner & AgentWaiter;
	/** Where the agents' records are: the row of the call shows what they do. */
	store: Store;
	resolve: ResolveSpec;
	/** Absent: the usage of agents is not added to that of the session. */
	usage?: UsageReport;
	/** Absent: giving up the call stops its agents, as the user. */
	onGivenUp?: OnGivenUp;
	/** Keeps the details of a call that fails, as `keepFailedDetails` does. Absent: pi drops them. */
	onFailed?: KeepDetails;
	/** Whether a call may name a command that checks the work. Absent: no. */
	hasVerify?: boolean;
	/** The machines that an agent can run on besides this one. Absent or empty: the model is not asked. */
	machines?: readonly string[];
	/** What `model` may be. Absent: any text. */
	model?: ModelParameter;
	/** Text listing the presets to choose from, as `presetList` of launch makes it. Absent: not listed here. */
	presets?: string;
}

/**
 * @example
 * ```ts
 * const agents = allAgents(manager, "session");
 * const resolve = async (params, ctx) => (await launcher.resolve(params, ctx)).spec;
 * pi.registerTool(createSubagentTool({ agents, store: manager.store, resolve }));
 * ```
 */
export function createSubagentTool(
	deps: SubagentToolDeps,
): ToolDefinition<ReturnType<typeof parametersFor>, SubagentDetails> {
	const { agents, store, resolve, usage, onGivenUp = () => "user", presets = "" } = deps;
	const { hasVerify = false, machines = [] } = deps;
	const { model: modelOffered = modelParameter([], { hasList: false }) } = deps;
	const tool = bounded(
		defineTool({
			name: "subagent",
			label: "Subagent",
			description: `Run a preset agent on a self-contained task and wait for its answer.${presets}`,
			promptSnippet: "Run an agent on a task and wait for its answer",
			parameters: parametersFor(modelOffered, { ...verifyOffered({ hasVerify }), ...machineOffered(machines) }),
			async execute(callId, params, signal, onUpdate, ctx) {
				const specs = await resolveAll(
					tasksIn(params).map((each) => offeredOf(each, deps)),
					resolve,
					ctx,
				);
				signal?.throwIfAborted();
				const launched = launchAll(agents, specs, callId);
				const finished = await finish(launched, {
					agents,
					store,
					signal,
					onGivenUp,
					hasRow: ctx.mode === "tui",
					onProgress: (lines, details) => onUpdate?.(progressUpdate(callId, lines, details)),
				});
				const { text, said } = params.tasks ? outcomesForModel(finished) : onlyOutcome(finished);
				const { records } = store.snapshot();
				const treeCost = (id: string) => treeUsage(records, id).usage.cost;
				const results = finished.map(({ record, outcome }) => scriptResultOf(record, outcome));
				const result = {
					content: [{ type: "text" as const, text }],
					details: {
						agents: finished.map(({ record }, index) =>
							detailsOf(record, { treeCost: treeCost(record.id), said: said[index] }),
						),
					},
					...(usage ? { usage: usage.owed() } : {}),
				};
				return settledResult(result, (!params.tasks && results[0]) || scriptResultOfAll(results), {
					isFailed: !results.some(({ status }) => status === "completed"),
					ctx,
				});
			},
			renderCall: ({ preset, task, model, tasks }, theme, row) =>
				renderAgentCall("subagent", { preset, task, model, tasks }, theme, row),
			renderResult: renderAgentResult,
		}),
		deps,
	);
	return givesData(tool);
}

/** A parameter that was not offered does not count. */
function offeredOf({ verify, machine, ...asked }: Asked, { hasVerify, machines = [] }: SubagentToolDeps): Asked {
	return {
		...asked,
		...(hasVerify ? defined({ verify }) : {}),
		...(machines.length > 0 ? defined({ machine }) : {}),
	};
}

function tasksIn({ preset, task, tasks, ...rest }: Params): Asked[] {
	const isSingle = preset !== undefined || task !== undefined;
	if (isSingle && tasks !== undefined)
		throw new AgentError("bad_request", "Give either preset and task, or tasks; not both.");
	if (tasks !== undefined && Object.values(rest).some((value) => value !== undefined))
		throw new AgentError("bad_request", "With tasks, give model, cwd and the like in each of them.");
	if (tasks?.length === 0) throw new AgentError("bad_request", "tasks is empty. Give at least one {preset, task}.");
	if (tasks) return tasks;
	if (preset === undefined || task === undefined)
		throw new AgentError("bad_request", "Give preset and task, or tasks: [{preset, task}].");
	return [{ preset, task, ...defined(rest) }];
}

/** Nothing is launched if one of them cannot be: the caller fixes the call and repeats all of it. */
async function resolveAll(asked: readonly Asked[], resolve: ResolveSpec, ctx: ExtensionContext): Promise<RunSpec[]> {
	const resolved = await Promise.allSettled(asked.map((params) => resolve({ ...params, requiresModel: true }, ctx)));
	const failures = resolved.flatMap((each, index) =>
		each.status === "rejected" ? [{ index, reason: each.reason }] : [],
	);
	const [first] = failures;
	if (first && asked.length === 1) throw first.reason;
	if (first) {
		const list = failures.map(({ index, reason }) => `Task ${index + 1}: ${messageOf(reason)}`);
		throw new AgentError("bad_request", `Nothing was launched.\n${list.join("\n")}`);
	}
	return resolved.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

/** All or none: a call that is refused halfway must not leave agents behind that no one waits for. */
function launchAll(agents: AgentSpawner & AgentWaiter, specs: readonly RunSpec[], callId: string): Launched[] {
	const launched: Launched[] = [];
	try {
		for (const spec of specs) launched.push({ record: agents.spawn(spec, { callId }), warnings: spec.warnings });
		return launched;
	} catch (error) {
		for (const { record } of launched)
			agents.abort(record.id, { by: "parent", reason: "another task of the call was refused" });
		throw error;
	}
}

function onlyOutcome([only]: readonly Finished[]): ReturnType<typeof outcomesForModel> {
	if (!only) return { text: "", said: [] };
	const told = outcomeForModel(only);
	return { text: told.text, said: [saidOf(told)] };
}
