/** `Agent`: hands a task to an agent and returns; the result comes as a message. Inside an agent it waits by default. */
import { defineTool, type ExtensionContext, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type Agents, findAgent, NO_USAGE, type Store } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { type AgentDetails, detailsOf, outcomeForModel, saidOf } from "@pi-subagents/core/outcome-text";
import { DEFAULT_PRESET } from "@pi-subagents/launch";
import { sanitize } from "@pi-subagents/progress";
import { type AgentCall, type AgentParams, agentCallOf, agentParameters } from "./parameters/agent-parameters.ts";
import { type ModelParameter, modelParameter } from "./parameters/model-parameter.ts";
import type { AgentFinder, AgentSpawner, ResolveSpec } from "./ports.ts";
import { renderAgentCall } from "./render/call.ts";
import { renderAgentResult } from "./render/result.ts";
import { bounded } from "./waiting/bounded.ts";
import type { KeepDetails } from "./waiting/failed-details.ts";
import { type AgentWaiter, finish, type Launched, type OnGivenUp } from "./waiting/foreground.ts";
import { givesData, scriptResultOf, settledResult } from "./waiting/script-result.ts";
import type { UsageReport } from "./waiting/usage-report.ts";

export interface AgentToolDeps {
	agents: LaunchedAgents & AgentWaiter;
	/** Where the agents' records are: the row of the call shows what they do. */
	store: Store;
	resolve: ResolveSpec;
	/** Absent: the usage of agents is not added to that of the session. */
	usage?: UsageReport;
	/** Who calls it. No message reaches an agent with the results of its own agents, so it waits for them by default. */
	caller: "session" | "agent";
	/** Whether agents run in the background unless the call says otherwise. Absent: those of a session do. */
	isBackgroundByDefault?: boolean;
	/** Whether a worktree can be asked for. Absent: yes. */
	hasWorktrees?: boolean;
	/** Whether a call may name a command that checks the work. Absent: no. */
	hasVerify?: boolean;
	/** The machines that an agent can run on besides this one. Absent or empty: the model is not asked. */
	machines?: readonly string[];
	/** Absent: giving up the call stops its agent, as the user. */
	onGivenUp?: OnGivenUp;
	/** Keeps the details of a call that fails, as `keepFailedDetails` does. Absent: pi drops them. */
	onFailed?: KeepDetails;
	/** What `model` may be. Absent: any text. */
	model?: ModelParameter;
	/** Text listing the presets to choose from, as `presetList` of launch makes it. Absent: not listed here. */
	presets?: string;
	/** The user's own description of the tool, instead of ours and the list. */
	description?: string | undefined;
	/** Keeps the call as a job instead of launching it; resolves with the answer. Absent: there are no schedules. */
	schedule?: ((schedule: string, call: AgentCall, ctx: ExtensionContext) => Promise<string>) | undefined;
}

/** Starts agents, and finds and resumes finished ones. */
type LaunchedAgents = AgentSpawner & AgentFinder & Pick<Agents, "resume">;

const SAYS = {
	background: "Hand a task to an agent and keep working: a message brings its result, so do not poll.",
	foreground: "Hand a self-contained task to an agent of your own and wait for its answer.",
};

/** The details of a call. The fields at the top are those that readers of session files know from other extensions. */
export interface AgentCallDetails extends Partial<AgentSummary> {
	agents: AgentDetails[];
	/** In updates: the call that waits. Readers of `--mode json` see what belongs to what. */
	parentToolCallId?: string;
}

interface AgentSummary {
	agentId: string;
	description: string;
	/** The name of its preset. */
	subagentType: string;
	/** `background` for an agent that the call does not wait for. The last three are for calls that failed. */
	status: "queued" | "running" | "background" | "completed" | "error" | "stopped" | "aborted";
}

const NAME = "Agent";

export function createAgentTool(
	deps: AgentToolDeps,
): ToolDefinition<ReturnType<typeof agentParameters>, AgentCallDetails> {
	const { agents, store, usage, caller, onGivenUp = () => "user", presets = "" } = deps;
	const { model: modelOffered = modelParameter([], { hasList: false }) } = deps;
	const { isBackgroundByDefault = caller === "session", hasWorktrees = true, hasVerify = false, machines = [] } = deps;
	const hasSchedule = deps.schedule !== undefined;
	const tool = bounded(
		defineTool({
			name: NAME,
			label: NAME,
			description:
				deps.description ??
				`${SAYS[isBackgroundByDefault ? "background" : "foreground"]} Calls in one message run in parallel.${presets}`,
			promptSnippet: `Hand a task to an agent and ${isBackgroundByDefault ? "keep working" : "wait for its answer"}`,
			parameters: agentParameters(modelOffered, {
				isBackground: isBackgroundByDefault,
				hasSchedule,
				hasWorktrees,
				hasVerify,
				machines,
			}),
			async execute(callId, params, signal, onUpdate, ctx) {
				const isBackground = params.run_in_background ?? isBackgroundByDefault;
				if (deps.schedule && params.schedule?.trim()) return scheduled(params, deps, deps.schedule, ctx);
				const launched = await launch(params, { isBackground, callId }, deps, ctx, signal);
				if (isBackground) return started(launched, caller);
				const [finished] = await finish([launched], {
					agents,
					store,
					signal,
					onGivenUp,
					hasRow: ctx.mode === "tui",
					detailsFor: (left) => callDetails(launched.record, "background", left),
					onProgress: (lines, details) => {
						const status = details[0]?.status === "queued" ? "queued" : "running";
						const called: AgentCallDetails = {
							...callDetails(launched.record, status, details),
							parentToolCallId: callId,
						};
						onUpdate?.({ content: [{ type: "text", text: lines.join("\n") }], details: called });
					},
				});
				if (!finished) throw new Error("The agent was lost.");
				const { outcome, record, warnings } = finished;
				const told = outcomeForModel({ outcome, record, warnings });
				const result = {
					content: [{ type: "text" as const, text: told.text }],
					details: callDetails(record, endOf({ outcome }), [detailsOf(record, { said: saidOf(told) })]),
					...(usage ? { usage: usage.owed() } : {}),
				};
				const isFailed = outcome.status !== "completed";
				return settledResult(result, scriptResultOf(record, outcome), { isFailed, ctx });
			},
			renderCall: ({ subagent_type, description, model }, theme) =>
				renderAgentCall(NAME, { preset: subagent_type ?? DEFAULT_PRESET, task: description, model }, theme),
			renderResult: renderAgentResult,
		}),
		deps,
	);
	return givesData(tool);
}

async function launch(
	params: AgentParams,
	how: { isBackground: boolean; callId: string },
	deps: AgentToolDeps,
	ctx: ExtensionContext,
	signal: AbortSignal | undefined,
): Promise<Launched> {
	const { agents, resolve } = deps;
	const resumed = params.resume === undefined ? undefined : settledAgent(agents, params.resume);
	const spec = await resolve(agentCallOf(params, deps, resumed), ctx);
	signal?.throwIfAborted();
	const record = resumed
		? agents.resume(resumed.id, spec, how)
		: agents.spawn(spec, { ...how, ...defined({ name: params.name }) });
	return { record, warnings: spec.warnings };
}

async function scheduled(
	params: AgentParams,
	deps: AgentToolDeps,
	keep: NonNullable<AgentToolDeps["schedule"]>,
	ctx: ExtensionContext,
) {
	if (params.resume !== undefined)
		throw new AgentError("bad_request", "`schedule` cannot go with `resume`: a job launches a new agent each time.");
	if (params.run_in_background === false)
		throw new AgentError(
			"bad_request",
			"`schedule` cannot go with `run_in_background: false`: a call cannot wait for a job.",
		);
	const text = await keep(params.schedule ?? "", { ...agentCallOf(params, deps), name: params.name }, ctx);
	return {
		content: [{ type: "text" as const, text }],
		details: { agents: [] },
		structuredContent: { status: "scheduled", usage: NO_USAGE },
	};
}

function settledAgent(agents: AgentFinder, wanted: string): AgentRecord {
	const record = findAgent(agents.list(), wanted);
	if (record.outcome) return record;
	throw new AgentError(
		"wrong_state",
		`Agent ${record.id} is ${record.status}; give it another instruction with steer_subagent.`,
	);
}

function started({ record, warnings }: Launched, caller: AgentToolDeps["caller"]) {
	const { id, type, status } = record;
	const next =
		caller === "session"
			? "A message will bring its result; continue with something else, or end your turn."
			: "Read its result with get_subagent_result.";
	const text = [`Agent ${id} (${sanitize(type)}) is ${status}. ${next}`, ...warnings.map(sanitize)].join("\n");
	return {
		content: [{ type: "text" as const, text }],
		details: callDetails(record, "background"),
		structuredContent: scriptResultOf(record, undefined),
	};
}

/** In the words of other extensions: an agent is `stopped` by someone, and `aborted` by a limit. */
function endOf({ outcome }: Pick<AgentRecord, "outcome">): AgentSummary["status"] {
	if (outcome?.status !== "aborted")
		return outcome ? (outcome.status === "failed" ? "error" : "completed") : "background";
	return ["user", "parent", "shutdown"].includes(outcome.by) ? "stopped" : "aborted";
}

function callDetails(
	record: AgentRecord,
	status: AgentSummary["status"],
	agents: AgentDetails[] = [detailsOf(record)],
): AgentCallDetails {
	const { id: agentId, description, type: subagentType } = record;
	return { agentId, description, subagentType, status, agents };
}
