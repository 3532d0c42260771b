/** The tools that a child has beside those of its preset: to ask, and where its preset allows it, to launch. */
import type { ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type Manager, type RunIdentity, type RunSpec } from "@pi-subagents/core";
import type { Launcher, LaunchParams } from "@pi-subagents/launch";
import { askTool } from "@pi-subagents/runners/session";
import { createNestedTools } from "@pi-subagents/tools";
import type { Host } from "../host/host.ts";

export interface ChildDeps {
	manager: Manager;
	launcher: Launcher<ExtensionContext>;
	host: Host;
	flushLogs: () => Promise<void>;
}

export function childTools(
	spec: RunSpec & RunIdentity,
	{ manager, launcher, host, flushLogs }: ChildDeps,
): ToolDefinition[] {
	const ask = askTool(manager, spec.agentId);
	if (!spec.subagents || spec.subagents.length === 0) return [ask];
	const resolve = async (params: LaunchParams, ctx: ExtensionContext) => {
		const session = host.session();
		if (!session) throw new AgentError("shut_down", "The session is ending; no more agents can be launched.");
		return (await launcher.resolve(params, session, { spec, ctx })).spec;
	};
	const agents = manager.scope(spec.agentId);
	const { store } = manager;
	const machines = Object.keys(launcher.latest().machines);
	return [ask, ...createNestedTools({ agents, store, resolve, machines, flushLogs })];
}
