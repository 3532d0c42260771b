/** The tools of an agent that may launch agents: the session's own, within what it launched itself. */
import type { ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { Agents, Store } from "@pi-subagents/core";
import { createAgentTool } from "./agent-tool.ts";
import { createGetResultTool } from "./get-result-tool.ts";
import type { ResolveSpec } from "./ports.ts";
import { createReplyTool } from "./reply-tool.ts";
import { createSteerTool } from "./steer-tool.ts";
import { createStopTool } from "./stop-tool.ts";

interface NestedToolsDeps {
	/** The agent's own view, `manager.scope(id)`: what it launched itself. */
	agents: Agents;
	store: Store;
	resolve: ResolveSpec;
	/** The machines that an agent can run on besides this one. */
	machines: readonly string[];
	/** Resolves when the logs hold what has happened so far. */
	flushLogs: () => Promise<void>;
}

export function createNestedTools({ agents, store, resolve, machines, flushLogs }: NestedToolsDeps): ToolDefinition[] {
	return [
		createAgentTool({
			agents,
			store,
			resolve,
			machines,
			caller: "agent",
			onGivenUp: () => "parent",
		}),
		createGetResultTool({ agents, flushLogs }),
		createSteerTool({ agents }),
		createStopTool({ agents }),
		createReplyTool({ agents }),
	] as ToolDefinition[];
}
