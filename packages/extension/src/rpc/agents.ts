/** Presets that other extensions bring along: by request, or by the older event. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { RuntimePresets } from "@pi-subagents/launch";
import { type ParseResult, parseDefinition } from "@pi-subagents/presets";
import { type AgentDefinition, type AgentRegistration, type Replies, serveRegistrations } from "@pi-subagents/rpc";

/** All of them, or none and an error that names the first that cannot be used. */
export function registerAgents(request: AgentRegistration, runtime: RuntimePresets): Replies["registerAgents"] {
	const { agents, owner } = request;
	const isExclusive = request.exclusive ?? false;
	const results = agents.map(parsed);
	const names = results.map(({ preset }) => preset?.name.toLowerCase());
	const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
	if (twice >= 0) throw new Error(`agents[${twice}]: the name "${agents[twice]?.name}" is used twice`);
	runtime.register({ results, isExclusive, owner: owner ?? undefined });
	return { count: results.length, exclusive: isExclusive };
}

export function serveAgentEvents(pi: ExtensionAPI, runtime: RuntimePresets): void {
	const stop = serveRegistrations(pi.events, (definition) => runtime.register({ results: [parsed(definition, 0)] }));
	pi.on("session_shutdown", stop);
}

function parsed(definition: AgentDefinition, index: number): ParseResult {
	const result = parseDefinition(definition);
	if (result.preset) return result;
	const why = result.problems.find(({ severity }) => severity === "error")?.message ?? "it cannot be used";
	throw new Error(`agents[${index}] "${definition.name}": ${why}`);
}
