/** `ask_main_session`, the one tool every child has: ask instead of guess. It waits until somebody answers. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { ASK_TOOL, type AskParameters, questionOf, replyOf } from "../ask-text.ts";
import type { Manager } from "../manager.ts";

/** One for all children: to make it takes as long as the rest of the tool. */
const parameters = Type.Unsafe<AskParameters>(ASK_TOOL.parameters);

/** `manager` may be any that knows the agent. */
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
