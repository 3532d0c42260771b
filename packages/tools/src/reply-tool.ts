/** `reply_subagent`: answer an agent that asked. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type Agents, findCandidate } from "@pi-subagents/core";
import { Type } from "typebox";
import { told } from "./result-text.ts";
import { bounded } from "./waiting/bounded.ts";
import { forModelsOnly } from "./waiting/script-result.ts";

const parameters = Type.Object({
	id: Type.Optional(Type.String({ description: "Optional when only one waits" })),
	feedback: Type.String(),
});

/** `agents` are those whose questions come here. */
export function createReplyTool({
	agents,
}: {
	agents: Pick<Agents, "list" | "answer">;
}): ToolDefinition<typeof parameters> {
	const tool = bounded(
		defineTool({
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
				return told(`Agent ${id} has your answer and continues.`);
			},
		}),
	);
	return forModelsOnly(tool);
}
