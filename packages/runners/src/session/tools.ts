import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import { ASK_TOOL, type AskParameters, questionOf, replyOf } from "@pi-subagents/core/internal/run";
import { Type } from "typebox";

/** Shared by all children: building it takes as long as the rest of the tool. */
const parameters = Type.Unsafe<AskParameters>(ASK_TOOL.parameters);

/** Any manager that knows the agent. */
export function askTool(manager: Pick<Manager, "ask">, agentId: string): ToolDefinition {
	return defineTool({
		...ASK_TOOL,
		parameters,
		async execute(_callId, asked, signal) {
			const answer = await manager.ask(agentId, questionOf(asked), signal);
			return { content: [{ type: "text", text: replyOf(answer) }], details: { by: answer.by } };
		},
	});
}

/** The tools that a session child can have: pi's own. */

const EVERYWHERE = ["read", "bash", "edit", "write", "grep", "find", "ls"];

export function sessionTools(platform: string = process.platform): string[] {
	return platform === "win32" ? [...EVERYWHERE, "powershell"] : [...EVERYWHERE];
}
