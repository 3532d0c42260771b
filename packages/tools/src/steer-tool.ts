/** `steer_subagent`: give a running agent another instruction. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type Agents, findAgent } from "@pi-subagents/core";
import { Type } from "typebox";
import { told } from "./result-text.ts";
import { bounded } from "./waiting/bounded.ts";

const parameters = Type.Object({ agent_id: Type.String(), message: Type.String() });

/** `agents` are those that may be steered: all of the session, or those of one agent. */
export function createSteerTool({
	agents,
}: {
	agents: Pick<Agents, "list" | "steer">;
}): ToolDefinition<typeof parameters> {
	return bounded(
		defineTool({
			name: "steer_subagent",
			label: "Steer agent",
			description: "Give a running agent another instruction for its next turn.",
			parameters,
			async execute(_callId, { agent_id, message }) {
				const { id, status, outcome } = findAgent(agents.list(), agent_id);
				if (message.trim() === "")
					throw new AgentError("bad_request", "The message is empty. Say what the agent should do differently.");
				if (outcome)
					throw new AgentError("wrong_state", `Agent ${id} is ${status}. Continue it with Agent, resume: "${id}".`);
				agents.steer(id, message);
				return told(`Agent ${id} is ${status}; it will read this with its next turn.`);
			},
		}),
	);
}
