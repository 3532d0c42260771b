/** `subagent`: run a preset on a task, or several at once, and wait for the answers. */
import { defineTool, type ExtensionContext, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type Manager, messageOf, type RunSpec } from "@pi-subagents/core";
import { outcomeText, sanitize } from "@pi-subagents/progress";
import { type Static, Type } from "typebox";
import { type Agents, allAgents } from "../agents.ts";
import type { Launcher } from "../launch.ts";
import type { Ledger } from "../ledger.ts";
import { renderAgentCall } from "../render/call.ts";
import { renderAgentResult } from "../render/result.ts";
import { type AgentDetails, detailsOf } from "./details.ts";
import { type Finished, type ForegroundOptions, finish, type Launched } from "./foreground.ts";
import type { ModelParameter } from "./model-parameter.ts";
import { reportFor } from "./report.ts";

const parametersFor = (model: ModelParameter) =>
	Type.Object({
		preset: Type.Optional(Type.String()),
		task: Type.Optional(Type.String({ description: "Self-contained" })),
		model,
		cwd: Type.Optional(Type.String()),
		tasks: Type.Optional(
			Type.Array(
				Type.Object({
					preset: Type.String(),
					task: Type.String(),
					model: Type.Optional(Type.String()),
					cwd: Type.Optional(Type.String()),
				}),
				{ description: "Several at once" },
			),
		),
	});

type Params = Static<ReturnType<typeof parametersFor>>;
type Asked = NonNullable<Params["tasks"]>[number];

/** Of the agents of one call, in its order. */
export interface SubagentDetails {
	agents: AgentDetails[];
}

export interface SubagentDeps {
	manager: Manager;
	launcher: Launcher;
	ledger: Ledger;
	/** What becomes of the agents when the call that waits for them is given up. */
	onGivenUp: ForegroundOptions["onGivenUp"];
	/** What `model` may be. */
	model: ModelParameter;
	/** What the model can choose from, in words. */
	presets: string;
}

export function subagentTool(deps: SubagentDeps): ToolDefinition<ReturnType<typeof parametersFor>, SubagentDetails> {
	const { manager, launcher, ledger, onGivenUp, presets } = deps;
	const agents = allAgents(manager, "session");
	return defineTool({
		name: "subagent",
		label: "Subagent",
		description: `Run a preset agent on a self-contained task and wait for its answer.${presets}`,
		promptSnippet: "Run an agent on a task and wait for its answer",
		parameters: parametersFor(deps.model),
		async execute(_callId, params, signal, onUpdate, ctx) {
			const specs = await resolveAll(tasksIn(params), launcher, ctx);
			signal?.throwIfAborted();
			const launched = launchAll(agents, specs);
			const finished = await finish(launched, {
				agents,
				store: manager.store,
				signal,
				onGivenUp,
				hasRow: ctx.mode === "tui",
				onProgress: (lines, details) =>
					onUpdate?.({ content: [{ type: "text", text: lines.join("\n") }], details: { agents: details } }),
			});
			const text = params.tasks ? reportForAll(finished) : reportForOne(finished);
			// A run that did not complete is a tool error, so that the model cannot take it for an answer.
			if (!finished.some(({ outcome }) => outcome.status === "completed")) throw new Error(text);
			return {
				content: [{ type: "text", text }],
				details: { agents: finished.map(({ record }) => detailsOf(record)) },
				usage: ledger.owed(),
			};
		},
		renderCall: ({ preset, task, model, tasks }, theme) =>
			renderAgentCall("subagent", { preset, task, model, tasks }, theme),
		renderResult: renderAgentResult,
	});
}

function tasksIn({ preset, task, model, cwd, tasks }: Params): Asked[] {
	const isSingle = preset !== undefined || task !== undefined;
	if (isSingle && tasks !== undefined)
		throw new AgentError("bad_request", "Give either preset and task, or tasks; not both.");
	if (tasks !== undefined && (model !== undefined || cwd !== undefined))
		throw new AgentError("bad_request", "With tasks, give model and cwd in each of them.");
	if (tasks?.length === 0) throw new AgentError("bad_request", "tasks is empty. Give at least one {preset, task}.");
	if (tasks) return tasks;
	if (preset === undefined || task === undefined)
		throw new AgentError("bad_request", "Give preset and task, or tasks: [{preset, task}].");
	return [{ preset, task, ...(model === undefined ? {} : { model }), ...(cwd === undefined ? {} : { cwd }) }];
}

/** Nothing is launched when one of them cannot be: the caller mends the call and repeats it whole. */
async function resolveAll(asked: readonly Asked[], launcher: Launcher, ctx: ExtensionContext): Promise<RunSpec[]> {
	const resolved = await Promise.allSettled(
		asked.map((params) => launcher.resolve({ ...params, keepsFiles: true }, ctx)),
	);
	const failures = resolved.flatMap((each, index) =>
		each.status === "rejected" ? [{ index, reason: each.reason }] : [],
	);
	const [first] = failures;
	if (first && asked.length === 1) throw first.reason;
	if (first) {
		const list = failures.map(({ index, reason }) => `Task ${index + 1}: ${messageOf(reason)}`);
		throw new AgentError("bad_request", `Nothing was launched.\n${list.join("\n")}`);
	}
	return resolved.flatMap((each) => (each.status === "fulfilled" ? [each.value.spec] : []));
}

/** All or none: a call that was refused half-way must not leave agents behind that nobody waits for. */
function launchAll(agents: Agents, specs: readonly RunSpec[]): Launched[] {
	const launched: Launched[] = [];
	try {
		for (const spec of specs) launched.push({ record: agents.spawn(spec), warnings: spec.warnings });
		return launched;
	} catch (error) {
		for (const { record } of launched)
			agents.abort(record.id, { by: "parent", reason: "another task of the call was refused" });
		throw error;
	}
}

function reportForOne([only]: readonly Finished[]): string {
	return only ? reportFor(only.outcome, only.record, only.warnings) : "";
}

function reportForAll(finished: readonly Finished[]): string {
	const completed = finished.filter(({ outcome }) => outcome.status === "completed").length;
	const lines = finished.map(
		({ outcome, record }, index) => `${index + 1}. ${sanitize(record.type)}: ${outcomeText(outcome)}`,
	);
	const reports = finished.map(
		({ outcome, record, warnings }, index) =>
			`## ${index + 1}. ${sanitize(record.type)}\n${reportFor(outcome, record, warnings)}`,
	);
	return [`${completed} of ${finished.length} completed.`, ...lines, "", reports.join("\n\n")].join("\n");
}
