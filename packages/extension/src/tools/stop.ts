/** `stop_subagent`: end an agent now, or let it finish with what it has. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { type Agents, findAgent, findCandidate } from "../agents.ts";
import type { Delivery } from "../delivery/delivery.ts";
import { reportFor } from "./report.ts";
import { told } from "./told.ts";

const parameters = Type.Object({
	id: Type.Optional(Type.String({ description: "Optional when only one runs" })),
	reason: Type.Optional(Type.String()),
	mode: Type.Optional(
		Type.Unsafe<"abort" | "wrap_up">({
			type: "string",
			enum: ["abort", "wrap_up"],
			description: "wrap_up: answer now with what it has",
		}),
	),
});

export function stopTool(agents: Agents, delivery?: Delivery): ToolDefinition<typeof parameters> {
	return defineTool({
		name: "stop_subagent",
		label: "Stop agent",
		description: "Stop an agent and all it launched.",
		parameters,
		async execute(_callId, { id: wanted, reason, mode = "abort" }) {
			const isActive = {
				is: ({ outcome }: { outcome?: object }) => !outcome,
				none: "No agent is active; nothing was stopped.",
			};
			const { id, status, outcome } = findCandidate(agents.list(), wanted, isActive);
			if (outcome) return told(`Agent ${id} is already ${status}; nothing was stopped.`);
			if (mode === "wrap_up") {
				agents.wrapUp(id, reason);
				return told(`Agent ${id} is asked to finish with what it has; its result will come.`);
			}
			agents.abort(id, { by: "parent", ...(reason === undefined ? {} : { reason }) });
			const stopped = findAgent(agents.list(), id);
			delivery?.claim(stopped);
			return told(stopped.outcome ? reportFor(stopped.outcome, stopped) : `Agent ${id} is being stopped.`);
		},
	});
}
