/** The tools of an agent that may launch agents: the session's own, within what it launched itself. */
import type { ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { ManagerScope, RunSpec, Store } from "@pi-subagents/core";
import { ownAgents } from "../agents.ts";
import type { LaunchParams } from "../launch.ts";
import { agentTool } from "./agent.ts";
import { getResultTool } from "./get-result.ts";
import { modelParameter } from "./model-parameter.ts";
import { replyTool } from "./reply.ts";
import { steerTool } from "./steer.ts";
import { stopTool } from "./stop.ts";

export interface NestedDeps {
	scope: ManagerScope;
	store: Store;
	resolve: (params: LaunchParams, ctx: ExtensionContext) => Promise<RunSpec>;
	flushLogs: () => Promise<void>;
}

export function nestedTools({ scope, store, resolve, flushLogs }: NestedDeps): ToolDefinition[] {
	const agents = ownAgents(scope);
	return [
		agentTool({
			agents,
			store,
			resolve,
			caller: "agent",
			onGivenUp: () => "parent",
			model: modelParameter([], { hasList: false }),
			presets: "",
		}),
		getResultTool({ agents, flushLogs }),
		steerTool(agents),
		stopTool(agents),
		replyTool(agents),
	] as ToolDefinition[];
}
