/** Runs the agents of a workflow through the session's manager: launched, rejoined or resumed, and waited for. */
import { AgentError, type AgentRecord, type Manager, type Outcome, type RunSpec, workTokens } from "@pi-subagents/core";
import { defined, isObject, quoted } from "@pi-subagents/core/internal/base";
import { isWrapped, parseOutputSchema } from "@pi-subagents/core/output";
import { DEFAULT_PRESET, type LaunchParams, resumedParams } from "@pi-subagents/launch";
import { isThinkingLevel, outcomeText, THINKING_LEVELS } from "@pi-subagents/progress";
import type { AgentRequest } from "../engine/options.ts";
import type { AgentCall, AgentResult, WorkflowPorts } from "../engine/ports.ts";
import { type EarlierPlaces, fateOf, type Placing, rejoin, remember } from "./earlier.ts";

export interface AgentPortDeps {
	manager: Manager;
	/** From a request to a spec, for the session that is open. */
	resolve: (params: LaunchParams) => Promise<RunSpec>;
	places: EarlierPlaces;
	/** Writes what is queued for the files of runs: those of an agent that has just been stopped are read. */
	flushLogs?: () => Promise<void>;
	/** The workflow that launches. */
	placing: Placing;
}

export function agentPort(deps: AgentPortDeps): WorkflowPorts["agent"] {
	const { manager, placing } = deps;
	return async (request, call) => {
		const result = await finished(request, call);
		return "data" in result ? { ...result, data: dataFor(request.schema, result.data) } : result;
	};

	async function finished(request: AgentRequest, call: AgentCall): Promise<AgentResult> {
		const record = await launch(request, call, deps);
		if ("tokens" in record) return record;
		const before = record.run > 1 ? workTokens(record.usage) : 0;
		call.onLaunched({ agentId: record.id, run: record.run });
		const stop = () => manager.abort(record.id, { by: "parent", reason: "the workflow no longer needs it" });
		call.signal.addEventListener("abort", stop, { once: true });
		if (call.signal.aborted) stop();
		try {
			const outcome = await manager.wait(record.id, { waiterId: placing.parentAgentId });
			const { usage } = manager.store.record(record.id) ?? record;
			return resultOf(outcome, workTokens(usage) - before);
		} finally {
			call.signal.removeEventListener("abort", stop);
		}
	}
}

/** Earlier versions kept a list or a text as the `value` of an object, and a workflow of theirs may continue here. */
export function dataFor(schema: AgentRequest["schema"], data: unknown): unknown {
	return schema && isObject(data) && "value" in data && isWrapped(schema) ? data.value : data;
}

/** The record of the agent that works on it, or the answer that it had given already. */
async function launch(request: AgentRequest, call: AgentCall, deps: AgentPortDeps): Promise<AgentRecord | AgentResult> {
	const { manager, places, flushLogs } = deps;
	const { previous, resumed } = call;
	const placing = { ...deps.placing, ...(call.phase === undefined ? {} : { phase: call.phase }) };
	if (previous) await flushLogs?.();
	const fate = previous && (await fateOf(previous, places));
	if (fate?.kind === "answered") return resultOf(fate.outcome, fate.tokens);
	if (previous && fate?.kind === "running") {
		const live = manager.store.record(previous.agentId);
		if (live && !live.outcome) return live;
		if (await rejoin(manager, fate, placing, places)) return recordOf(manager, previous.agentId);
		throw new AgentError("wrong_state", `Another pi follows agent ${previous.agentId}.`);
	}
	if (previous && fate?.kind === "interrupted") {
		remember(manager, fate, placing);
		return resume(recordOf(manager, previous.agentId), { ...request, prompt: continued(request.prompt) }, call, deps);
	}
	if (request.resume !== undefined) {
		const { agentId = request.resume, run = 1 } = resumed ?? {};
		const earlier = manager.store.record(agentId) ? undefined : await fateOf({ agentId, run }, { ...places });
		if (earlier && "meta" in earlier) remember(manager, earlier, placing);
		const known = manager.store.record(agentId);
		if (!known)
			throw new AgentError(
				"unknown_agent",
				`\`resume\`: no agent of this workflow has the label or id ${quoted(request.resume)}, or its conversation is gone.`,
			);
		return resume(known, request, call, deps);
	}
	const spec = await specFor(request, call, deps);
	const { phase, parentAgentId, isBackground } = placing;
	return manager.spawn(spec, { parentAgentId, isBackground, ...defined({ phase }) });
}

async function resume(
	record: AgentRecord,
	request: AgentRequest,
	call: AgentCall,
	deps: AgentPortDeps,
): Promise<AgentRecord> {
	const { id, type, isBackground } = record;
	const spec = await specFor({ agentType: type, ...request }, call, deps, resumedParams(record));
	return deps.manager.resume(id, spec, { isBackground });
}

/** An agent in a process of its own, here or elsewhere, continues when pi ends: the workflow rejoins it. */
function specFor(
	request: AgentRequest,
	{ label }: AgentCall,
	{ resolve }: AgentPortDeps,
	earlier: Partial<LaunchParams> = {},
): Promise<RunSpec> {
	const {
		prompt,
		agentType = DEFAULT_PRESET,
		model,
		effort,
		maxTurns,
		schema,
		isolation,
		machine,
		retry,
		verify,
	} = request;
	if (effort !== undefined && !isThinkingLevel(effort))
		throw new AgentError(
			"bad_request",
			`\`effort\` of agent(): ${quoted(effort)} is not one of ${THINKING_LEVELS.join(", ")}.`,
		);
	const params: LaunchParams = {
		preset: agentType,
		task: prompt,
		description: label,
		model,
		thinking: effort,
		maxTurns,
		outputSchema: parseOutputSchema(schema),
		machine,
		retry,
		...earlier,
		...defined({ retry }), // what the script says now
		...(verify === undefined ? {} : { verify, verifyBy: undefined, isVerifyKept: false }),
		isolation: isolation ?? earlier.isolation,
		outlives: "if_process",
	};
	return resolve(params);
}

function continued(prompt: string): string {
	return `Your work on this task was interrupted. Continue where you were, and give the answer. The task:\n\n${prompt}`;
}

function resultOf(outcome: Outcome, tokens: number): AgentResult {
	if (outcome.status !== "completed") return { status: outcome.status, error: outcomeText(outcome), tokens };
	const { text, structured } = outcome;
	return { status: "completed", text, tokens, ...(structured ? { data: structured.data } : {}) };
}

function recordOf(manager: Manager, id: string): AgentRecord {
	const record = manager.store.record(id);
	if (!record) throw new AgentError("unknown_agent", `There is no agent ${id}.`);
	return record;
}
