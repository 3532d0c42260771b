/** `subagent`: run a preset on a task and wait for the answer. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type Manager, type Outcome, resolveSpec } from "@pi-subagents/core";
import { Type } from "typebox";
import type { Host } from "../host.ts";
import type { Presets } from "../presets.ts";
import { followProgress } from "../progress-feed.ts";
import { renderAgentCall } from "../render/call.ts";
import { renderAgentResult } from "../render/result.ts";
import { type AgentDetails, detailsOf } from "./details.ts";
import { reportFor } from "./report.ts";

const parameters = Type.Object({
	preset: Type.String({ description: "Name of the preset to run" }),
	task: Type.String({ description: "What to do, self-contained: the agent knows nothing of this conversation" }),
	model: Type.Optional(Type.String({ description: "provider/id, instead of the preset's model" })),
	cwd: Type.Optional(Type.String({ description: "Working directory, instead of the current one" })),
});

export interface SubagentDeps {
	manager: Manager;
	host: Host;
	presets: Presets;
}

export function subagentTool({
	manager,
	host,
	presets,
}: SubagentDeps): ToolDefinition<typeof parameters, AgentDetails> {
	return defineTool({
		name: "subagent",
		label: "Subagent",
		description:
			"Hand a self-contained task to a preset agent with a fresh context and wait for its answer. Several calls in one message run in parallel.",
		promptSnippet: "Delegate a self-contained task to an agent and wait for its answer",
		parameters,
		async execute(_callId, params, signal, onUpdate, ctx) {
			const spec = resolveSpec({
				request: { task: params.task, model: params.model },
				preset: await presets.find(params.preset, ctx.cwd),
				defaults: {},
				parent: host.parent(ctx),
				facts: await host.facts(ctx, params.cwd),
			});
			signal?.throwIfAborted();
			const launched = manager.spawn(spec);
			const { id } = launched;
			const feed = followProgress(manager.store, id, (lines, record) => {
				onUpdate?.({ content: [{ type: "text", text: lines.join("\n") }], details: detailsOf(record) });
			});
			const stop = () => manager.abort(id, { by: "user" });
			signal?.addEventListener("abort", stop, { once: true });
			try {
				const outcome = await manager.wait(id);
				return resultOf(outcome, manager.store.record(id) ?? launched);
			} finally {
				signal?.removeEventListener("abort", stop);
				feed.close();
			}
		},
		renderCall: renderAgentCall,
		renderResult: renderAgentResult,
	});
}

/** A run that did not complete is a tool error, so that the model cannot take it for an answer. */
function resultOf(outcome: Outcome, record: AgentRecord) {
	const text = reportFor(outcome, record);
	if (outcome.status !== "completed") throw new Error(text);
	return { content: [{ type: "text" as const, text }], details: detailsOf(record) };
}
