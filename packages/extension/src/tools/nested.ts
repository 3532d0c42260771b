/**
 * The tools of an agent that may launch agents: within its own scope, it sees and touches only what it launched.
 * It waits for what it launches unless it asks not to; nobody would wake it with a result later.
 */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type ManagerScope, type Outcome, type RunSpec } from "@pi-subagents/core";
import { formatCount, sanitize } from "@pi-subagents/progress";
import { Type } from "typebox";
import { reportFor } from "./report.ts";
import { answerOf } from "./wait.ts";

export interface NestedDeps {
	scope: ManagerScope;
	/** From what the agent asked for to a spec. */
	resolve: (params: {
		preset: string;
		task: string;
		description: string;
		model?: string | undefined;
	}) => Promise<RunSpec>;
}

export function nestedTools(deps: NestedDeps): ToolDefinition[] {
	return [launchTool(deps), resultTool(deps), steerTool(deps), stopTool(deps), replyTool(deps)];
}

function launchTool({ scope, resolve }: NestedDeps): ToolDefinition {
	return defineTool({
		name: "Agent",
		label: "Agent",
		description:
			"Hand a self-contained task to an agent of your own and wait for its answer. Several calls in one message run in parallel.",
		promptSnippet: "Delegate a self-contained task to an agent of your own",
		parameters: Type.Object({
			prompt: Type.String({ description: "What to do, self-contained: it knows nothing of your conversation" }),
			description: Type.String({ description: "Three to five words" }),
			subagent_type: Type.Optional(Type.String({ description: "Name of a preset; general-purpose when absent" })),
			model: Type.Optional(Type.String({ description: "provider/id, instead of the preset's" })),
			run_in_background: Type.Optional(
				Type.Boolean({ description: "Do not wait; read the result later with get_subagent_result" }),
			),
		}),
		async execute(
			_callId,
			{ prompt, description, subagent_type = "general-purpose", model, run_in_background },
			signal,
		) {
			const spec = await resolve({ preset: subagent_type, task: prompt, description, model });
			signal?.throwIfAborted();
			const launched = scope.spawn(spec, { isBackground: run_in_background ?? false });
			if (!run_in_background) return settled(scope, launched.id, spec.warnings, signal);
			return told(
				`Agent ${launched.id} (${launched.type}) is ${launched.status}. Read its result with get_subagent_result.`,
			);
		},
	});
}

function resultTool({ scope }: NestedDeps): ToolDefinition {
	return defineTool({
		name: "get_subagent_result",
		label: "Agent result",
		description: "Read the result of an agent that you launched in the background.",
		parameters: Type.Object({
			agent_id: Type.String(),
			wait: Type.Optional(Type.Boolean({ description: "Wait until it has one" })),
		}),
		async execute(_callId, { agent_id, wait }, signal) {
			const record = ownRecord(scope, agent_id);
			if (record.outcome || wait) return settled(scope, record.id, [], signal);
			return told(`Agent ${record.id} is ${record.status}: ${record.activity ?? "nothing said yet"}`);
		},
	});
}

function steerTool({ scope }: NestedDeps): ToolDefinition {
	return defineTool({
		name: "steer_subagent",
		label: "Steer agent",
		description: "Give an agent that you launched another instruction while it works.",
		parameters: Type.Object({ agent_id: Type.String(), message: Type.String() }),
		async execute(_callId, { agent_id, message }) {
			scope.steer(agent_id, message);
			return told(`Agent ${agent_id} will read this with its next turn.`);
		},
	});
}

function stopTool({ scope }: NestedDeps): ToolDefinition {
	return defineTool({
		name: "stop_subagent",
		label: "Stop agent",
		description: "Stop an agent that you launched.",
		parameters: Type.Object({ id: Type.String(), reason: Type.Optional(Type.String()) }),
		async execute(_callId, { id, reason }) {
			scope.abort(id, { by: "parent", ...(reason === undefined ? {} : { reason }) });
			return told(reportOf(ownRecord(scope, id)));
		},
	});
}

function replyTool({ scope }: NestedDeps): ToolDefinition {
	return defineTool({
		name: "reply_subagent",
		label: "Answer agent",
		description: "Answer the question of an agent that you launched.",
		parameters: Type.Object({ id: Type.String(), feedback: Type.String() }),
		async execute(_callId, { id, feedback }) {
			scope.answer(id, feedback);
			return told(`Agent ${id} has your answer.`);
		},
	});
}

async function settled(scope: ManagerScope, id: string, warnings: readonly string[], signal: AbortSignal | undefined) {
	const stop = () => scope.abort(id, { by: "parent" });
	return told(
		await answerOf({ wait: () => scope.wait(id), stop, record: () => ownRecord(scope, id), warnings }, signal),
	);
}

function reportOf(record: AgentRecord): string {
	const outcome: Outcome = record.outcome ?? { status: "aborted", by: "parent" };
	return reportFor(outcome, record);
}

function ownRecord(scope: ManagerScope, id: string): AgentRecord {
	const record = scope.record(id);
	if (record) return record;
	const known = scope.list().map((each) => each.id);
	const list =
		known.length === 0
			? "You have launched none."
			: `Yours (${formatCount(known.length, "agent")}): ${known.join(", ")}.`;
	throw new AgentError("unknown_agent", `There is no agent "${sanitize(id)}" among yours. ${list}`);
}

function told(text: string) {
	return { content: [{ type: "text" as const, text }], details: undefined };
}
