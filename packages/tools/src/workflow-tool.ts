/** `workflow`: run a script that orchestrates agents, or continue one. How scripts are written is read on demand. */
import { defineTool, type ExtensionContext, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type Store } from "@pi-subagents/core";
import { type AgentDetails, detailsOf, outcomeForModel, saidOf } from "@pi-subagents/core/outcome-text";
import { type ScheduledCall, workflowJob } from "@pi-subagents/launch";
import { Type } from "typebox";
import { renderAgentCall } from "./render/call.ts";
import { renderAgentResult } from "./render/result.ts";
import { bounded, RunFailure } from "./waiting/bounded.ts";
import type { KeepDetails } from "./waiting/failed-details.ts";
import { type AgentWaiter, finish, type OnGivenUp } from "./waiting/foreground.ts";

const parameters = Type.Object({
	script: Type.Optional(Type.String()),
	path: Type.Optional(Type.String({ description: "Script file" })),
	name: Type.Optional(Type.String({ description: "Saved one" })),
	args: Type.Optional(Type.Unknown()),
	resume: Type.Optional(Type.String({ description: "Paused workflow id" })),
	background: Type.Optional(Type.Boolean({ description: "Default true" })),
});

const withSchedule = Type.Object({
	...parameters.properties,
	schedule: Type.Optional(Type.String({ description: "Cron, 5m, +10m, ISO" })),
});

/** What a call runs, as the model says it. */
export interface WorkflowToolCall {
	script?: string | undefined;
	path?: string | undefined;
	name?: string | undefined;
	args?: unknown;
}

interface WorkflowOptions {
	isBackground: boolean;
	launchedBy: "model";
	callId: string;
}

/** What runs workflows. */
export interface WorkflowStarter {
	/** How scripts are written, and which are saved. */
	guide(ctx: ExtensionContext): Promise<string>;
	start(call: WorkflowToolCall, ctx: ExtensionContext, options: WorkflowOptions): Promise<AgentRecord>;
	resume(id: string, call: WorkflowToolCall, ctx: ExtensionContext, options: WorkflowOptions): Promise<AgentRecord>;
}

export interface WorkflowToolDeps {
	/** Called with the first use: most sessions run no workflow. */
	load(): Promise<WorkflowStarter>;
	agents: AgentWaiter;
	store: Store;
	onGivenUp: OnGivenUp;
	/** Keeps the details of a call that fails, as `keepFailedDetails` does. Absent: pi drops them. */
	onFailed?: KeepDetails;
	/** Keeps the call as a job instead of running it; resolves with the answer. Absent: there are no schedules. */
	schedule?: ((schedule: string, call: ScheduledCall, ctx: ExtensionContext) => Promise<string>) | undefined;
}

export function createWorkflowTool(
	deps: WorkflowToolDeps,
): ToolDefinition<typeof withSchedule, { agents: AgentDetails[] }> {
	const { agents, store, onGivenUp } = deps;
	return bounded(
		defineTool({
			name: "workflow",
			label: "Workflow",
			description:
				"Run a script over many agents: fan-out, pipelines, loops; it survives restarts. Call it without arguments first: that returns the guide.",
			promptSnippet: "Orchestrate many agents with a script",
			parameters: deps.schedule ? withSchedule : (parameters as typeof withSchedule),
			async execute(callId, { background = true, resume, schedule, ...call }, signal, onUpdate, ctx) {
				if (deps.schedule && schedule?.trim()) {
					if (resume) throw new AgentError("bad_request", "`schedule` cannot go with `resume`.");
					const text = await deps.schedule(schedule, workflowJob(call), ctx);
					return { content: [{ type: "text", text }], details: { agents: [] } };
				}
				const workflows = await deps.load();
				const options = { isBackground: background, launchedBy: "model" as const, callId };
				if (!call.script && !call.path && !call.name && !resume)
					return { content: [{ type: "text", text: await workflows.guide(ctx) }], details: { agents: [] } };
				const record = await (resume
					? workflows.resume(resume, call, ctx, options)
					: workflows.start(call, ctx, options));
				const launched = { record, warnings: [] };
				if (background) {
					const text = `Workflow ${record.id} (${record.description}) is running. A message will bring its result; do not poll.`;
					return { content: [{ type: "text", text }], details: { agents: [detailsOf(record)] } };
				}
				const [finished] = await finish([launched], {
					agents,
					store,
					signal,
					onGivenUp,
					hasRow: ctx.mode === "tui",
					onProgress: (lines, details) =>
						onUpdate?.({ content: [{ type: "text", text: lines.join("\n") }], details: { agents: details } }),
				});
				if (!finished) throw new Error("The workflow was lost.");
				const told = outcomeForModel(finished);
				const details = { agents: [detailsOf(finished.record, { said: saidOf(told) })] };
				if (finished.outcome.status !== "completed") throw new RunFailure(told.text, details);
				return { content: [{ type: "text", text: told.text }], details };
			},
			renderCall: ({ name, path, resume, script }, theme) =>
				renderAgentCall(
					"workflow",
					{ preset: name ?? path ?? resume ?? "script", task: script ? workflowJob({ script }).description : "" },
					theme,
				),
			renderResult: renderAgentResult,
		}),
		deps,
	);
}
