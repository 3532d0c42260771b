/** `subagent`: run a preset on a task and wait for the answer. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { Type } from "typebox";
import type { Launcher } from "../launch.ts";
import { followProgress } from "../progress-feed.ts";
import { renderAgentCall } from "../render/call.ts";
import { renderAgentResult } from "../render/result.ts";
import { type AgentDetails, detailsOf } from "./details.ts";
import { answerOf } from "./wait.ts";

const parameters = Type.Object({
	preset: Type.String({ description: "Name of the preset to run" }),
	task: Type.String({ description: "What to do, self-contained: the agent knows nothing of this conversation" }),
	model: Type.Optional(Type.String({ description: "provider/id, instead of the preset's model" })),
	cwd: Type.Optional(Type.String({ description: "Working directory, instead of the current one" })),
});

export interface SubagentDeps {
	manager: Manager;
	launcher: Launcher;
	/** What the model can choose from. */
	presets: readonly Preset[];
}

/** All of them would crowd the request; any other name works too, and a wrong one is answered with the known ones. */
const MOST_PRESETS = 20;
const DESCRIPTION_CHARACTERS = 100;

export function subagentTool({
	manager,
	launcher,
	presets,
}: SubagentDeps): ToolDefinition<typeof parameters, AgentDetails> {
	return defineTool({
		name: "subagent",
		label: "Subagent",
		description: `Hand a self-contained task to a preset agent with a fresh context and wait for its answer. Several calls in one message run in parallel.${presetList(presets)}`,
		promptSnippet: "Delegate a self-contained task to an agent and wait for its answer",
		parameters,
		async execute(_callId, params, signal, onUpdate, ctx) {
			const { spec } = await launcher.resolve(params, ctx);
			signal?.throwIfAborted();
			const launched = manager.spawn(spec);
			const { id } = launched;
			const feed = followProgress(manager.store, id, (lines, record, now) => {
				onUpdate?.({ content: [{ type: "text", text: lines.join("\n") }], details: detailsOf(record, now) });
			});
			const record = () => manager.store.record(id) ?? launched;
			const stop = () => manager.abort(id, { by: "user" });
			try {
				const text = await answerOf({ wait: () => manager.wait(id), stop, record, warnings: spec.warnings }, signal);
				return { content: [{ type: "text", text }], details: detailsOf(record()) };
			} finally {
				feed.close();
			}
		},
		renderCall: renderAgentCall,
		renderResult: renderAgentResult,
	});
}

function presetList(presets: readonly Preset[]): string {
	if (presets.length === 0) return "";
	const lines = presets.slice(0, MOST_PRESETS).map(({ name, description }) => `- ${name}: ${shortened(description)}`);
	const more = presets.length - MOST_PRESETS;
	return ["\nPresets:", ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

function shortened(description: string): string {
	return description.length > DESCRIPTION_CHARACTERS
		? `${description.slice(0, DESCRIPTION_CHARACTERS - 1)}…`
		: description;
}
