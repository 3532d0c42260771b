/** `start_subagent`: launch an agent and hand the turn back to the user. */
import { defineTool, type ExtensionAPI, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { defined } from "@pi-subagents/core/internal/base";
import { type AgentDetails, detailsOf } from "@pi-subagents/core/outcome-text";
import { DEFAULT_PRESET } from "@pi-subagents/launch";
import { sanitize } from "@pi-subagents/progress";
import { Type } from "typebox";
import type { AgentSpawner, ResolveSpec } from "./ports.ts";
import { renderAgentCall } from "./render/call.ts";
import { renderAgentResult } from "./render/result.ts";
import { bounded } from "./waiting/bounded.ts";
import { forModelsOnly } from "./waiting/script-result.ts";

const NAME = "start_subagent";

const parameters = Type.Object({
	task: Type.String({ description: "Self-contained" }),
	role: Type.Optional(Type.String({ description: `Preset; default ${DEFAULT_PRESET}` })),
	name: Type.Optional(Type.String()),
	cwd: Type.Optional(Type.String()),
});

export interface StartSubagentToolDeps {
	agents: AgentSpawner;
	resolve: ResolveSpec;
	/** Text listing the presets to choose from, as `presetList` of launch makes it. Absent: not listed here. */
	presets?: string;
}

/** Register it with `keepLaunchesApart(pi)`, so that nothing else is called in its turn. */
export function createStartSubagentTool({
	agents,
	resolve,
	presets = "",
}: StartSubagentToolDeps): ToolDefinition<typeof parameters, { agents: AgentDetails[] }> {
	const tool = bounded(
		defineTool({
			name: NAME,
			label: "Start agent",
			description: `Launch an agent and return the turn to the user; a message brings its result. Call nothing else in that turn.${presets}`,
			promptSnippet: "Launch an agent and return the turn to the user",
			parameters,
			async execute(callId, { task, role = DEFAULT_PRESET, name, cwd }, signal, _onUpdate, ctx) {
				const spec = await resolve({ preset: role, task, cwd }, ctx);
				signal?.throwIfAborted();
				const record = agents.spawn(spec, { isBackground: true, callId, ...defined({ name }) });
				const text = [
					`Agent ${record.id} (${sanitize(record.type)}) is ${record.status} in ${sanitize(record.cwd)}. A message will bring its result.`,
					...spec.warnings.map(sanitize),
				].join("\n");
				return { content: [{ type: "text", text }], details: { agents: [detailsOf(record)] }, terminate: true };
			},
			renderCall: (args, theme) =>
				renderAgentCall(NAME, { preset: args?.role ?? DEFAULT_PRESET, task: args?.task ?? "" }, theme),
			renderResult: renderAgentResult,
		}),
	);
	return forModelsOnly(tool);
}

/**
 * Work beside a launch would keep the turn from the user, and often repeats what the agent does. So in one
 * turn there are either launches or other tools; whichever comes first decides.
 */
export function keepLaunchesApart(pi: ExtensionAPI): void {
	let first: "launch" | "other" | undefined;
	const reset = () => {
		first = undefined;
	};
	pi.on("turn_start", reset);
	pi.on("agent_end", reset);
	pi.on("tool_call", ({ toolName }) => {
		const kind = toolName === NAME ? "launch" : "other";
		first ??= kind;
		if (first === kind) return undefined;
		const reason =
			kind === "launch"
				? `${NAME} must be alone in its turn, and another tool was called before it. Call it again by itself.`
				: `${NAME} was called in this turn, which ends with it. Call ${toolName} later, if it is still needed.`;
		return { block: true, reason };
	});
}
