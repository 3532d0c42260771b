/** `reply_subagent`: answer an agent that asked. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { Type } from "typebox";
import { type Agents, findCandidate } from "../agents.ts";
import { told } from "./told.ts";

const parameters = Type.Object({
	id: Type.Optional(Type.String({ description: "Optional when only one waits" })),
	feedback: Type.String(),
});

export function replyTool(agents: Agents): ToolDefinition<typeof parameters> {
	return defineTool({
		name: "reply_subagent",
		label: "Answer agent",
		description: "Answer an agent's question; ask the user first when only they can know.",
		parameters,
		async execute(_callId, { id: wanted, feedback }) {
			const isWaiting = {
				is: ({ status }: { status: string }) => status === "waiting",
				none: "No agent waits for an answer.",
			};
			const { id } = findCandidate(agents.list(), wanted, isWaiting);
			if (feedback.trim() === "")
				throw new AgentError("bad_request", "The feedback is empty. Give the agent an answer.");
			agents.answer(id, feedback);
			return told(`Agent ${id} has your answer and goes on.`);
		},
	});
}
