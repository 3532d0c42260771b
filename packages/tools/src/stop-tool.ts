/** `stop_subagent`: end an agent now, or let it finish with what it has. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Agents, findAgent, findCandidate } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { outcomeForModel } from "@pi-subagents/core/outcome-text";
import { Type } from "typebox";
import type { ResultClaims } from "./ports.ts";
import { renderToldResult } from "./render/result.ts";
import { told } from "./result-text.ts";
import { bounded } from "./waiting/bounded.ts";

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

export interface StopToolDeps {
	agents: Pick<Agents, "list" | "wrapUp" | "abort">;
	/** Absent: results are announced nowhere else. */
	claims?: Pick<ResultClaims, "claim">;
}

export function createStopTool({ agents, claims }: StopToolDeps): ToolDefinition<typeof parameters> {
	return bounded(
		defineTool({
			name: "stop_subagent",
			label: "Stop agent",
			description: "Stop an agent and its sub-agents.",
			parameters,
			async execute(callId, { id: wanted, reason, mode = "abort" }) {
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
				agents.abort(id, { by: "parent", ...defined({ reason }) });
				const stopped = findAgent(agents.list(), id);
				claims?.claim(stopped, callId);
				const { outcome: end } = stopped;
				return told(end ? outcomeForModel({ outcome: end, record: stopped }).text : `Agent ${id} is being stopped.`);
			},
			renderResult: renderToldResult,
		}),
	);
}
