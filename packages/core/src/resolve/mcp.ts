/**
 * Which MCP servers a child connects, and which of their tools it has. Pure. What the launching session knows of a server
 * is decided here; of a server that it has not connected, the child finds out.
 */
import { AgentError, type AgentErrorCode, quoted } from "../base/error.ts";
import type { McpSpec } from "../model/schema/spec.ts";
import { isToolOf, type McpEntry, mcpKey, mcpToolName, parseMcpEntry } from "./mcp-names.ts";
import type { ToolRules } from "./tools.ts";

/** What the launching session knows of MCP. */
export interface McpFacts {
	/** Why no agent can have MCP servers here, as the end of a sentence. Absent if agents can. */
	unavailable?: string;
	/** The tools of its connected servers. */
	tools: readonly McpToolFact[];
}

export interface McpToolFact {
	name: string;
	/** Whether the session can call it, in whatever way. */
	isActive: boolean;
}

export interface McpRequest extends ToolRules {
	preset: string;
	/** The preset came with the project: it gets no more than the session has. */
	isFromProject: boolean;
	/** The user has not trusted that project: a stranger may have written the preset, and must not start servers. */
	isUntrusted: boolean;
	/** Written for another program: what is missing here costs only itself. */
	isImported: boolean;
	/** It runs without any extension, so without pi's MCP support. */
	isIsolated: boolean;
}

export interface ResolvedMcp {
	/** The rules about all other tools. */
	others: Pick<ToolRules, "tools" | "disallowedTools">;
	/** Names, and patterns for servers that the session has not connected. */
	tools: string[];
	mcp?: McpSpec;
	warnings: string[];
}

const NOWHERE: McpFacts = { unavailable: "this program has no MCP servers", tools: [] };

export function resolveMcp(request: McpRequest, facts: McpFacts = NOWHERE): ResolvedMcp {
	const { preset, isImported } = request;
	const others = withoutMcp(request);
	const wanted = wantedOf(request);
	if (wanted.length === 0) return { others, tools: [], warnings: [] };
	const servers = listed(wanted.map(({ server }) => server));
	const asks = `Preset "${preset}" asks for tools of the MCP server ${servers}`;
	if (request.isUntrusted)
		return { others, tools: [], warnings: [`${asks}; that counts only in a project you have trusted.`] };
	if (request.isIsolated)
		return { others, tools: [], warnings: [`${asks}, but it is isolated: it runs without any extension.`] };
	const warnings: string[] = [];
	const miss = (code: AgentErrorCode, message: string): [] => {
		if (!isImported) throw new AgentError(code, message);
		warnings.push(`${message} The agent runs without it.`);
		return [];
	};
	if (facts.unavailable !== undefined) {
		miss("unsupported", `${asks}, but ${facts.unavailable}.`);
		return { others, tools: [], warnings };
	}
	const denied = deniedBy(request);
	const named = wanted.flatMap((entry) => expand(entry, facts.tools, preset, miss));
	const allowed = [...new Set(named)].filter((name) => !denied(name));
	const tools = allowed.filter((name) => {
		if (!request.isFromProject || facts.tools.some((fact) => fact.name === name && fact.isActive)) return true;
		miss(
			"forbidden_tool",
			`Project preset "${preset}" asks for ${name}, which this session does not have: its server is not connected. Connect it (/mcp), or copy the preset to your own presets.`,
		);
		return false;
	});
	const mcp = specOf(request, tools);
	return { others, tools, ...(mcp && { mcp }), warnings };
}

/** The tools behind one entry, as far as the session knows them. */
function expand(
	entry: McpEntry,
	facts: readonly McpToolFact[],
	preset: string,
	miss: (code: AgentErrorCode, message: string) => [],
): string[] {
	const known = facts.filter(({ name }) => isToolOf(name, entry.server)).map(({ name }) => name);
	if (known.length === 0) return [mcpToolName(entry)]; // not connected yet, or not here: the child waits for it
	if (entry.tool === undefined) return known;
	const name = mcpToolName(entry);
	if (known.includes(name)) return [name];
	return miss(
		"unknown_tool",
		`Preset "${preset}" names the tool ${quoted(name)}, which the MCP server "${entry.server}" does not have. It has ${known.join(", ")}.`,
	);
}

/** The entries of `tools`, and the listed servers of which it names no tool. */
function wantedOf({ tools, mcpServers = [] }: ToolRules): McpEntry[] {
	const entries = (Array.isArray(tools) ? tools : []).flatMap((entry) => parseMcpEntry(entry) ?? []);
	const others = mcpServers.map(mcpKey).filter((server) => !entries.some((entry) => entry.server === server));
	return [...entries, ...others.map((server) => ({ server }))];
}

function withoutMcp({ tools, disallowedTools }: ToolRules): ResolvedMcp["others"] {
	const isOther = (entry: string) => parseMcpEntry(entry) === undefined;
	return {
		tools: Array.isArray(tools) ? tools.filter(isOther) : tools,
		disallowedTools: disallowedTools?.filter(isOther),
	};
}

function deniedBy({ disallowedTools = [] }: ToolRules): (name: string) => boolean {
	if (disallowedTools.includes("*")) return () => true;
	const entries = disallowedTools.flatMap((entry) => parseMcpEntry(entry) ?? []);
	return (name) =>
		entries.some((entry) => (entry.tool === undefined ? isToolOf(name, entry.server) : mcpToolName(entry) === name));
}

/** Denied names are kept for servers that only the child knows. */
function specOf({ disallowedTools = [], isImported }: McpRequest, tools: readonly string[]): McpSpec | undefined {
	const servers = [...new Set(tools.flatMap((name) => parseMcpEntry(name)?.server ?? []))];
	if (servers.length === 0) return undefined;
	const denied = disallowedTools
		.flatMap((entry) => parseMcpEntry(entry) ?? [])
		.filter(({ server, tool }) => tool !== undefined && tools.includes(mcpToolName({ server })))
		.map(mcpToolName);
	return { servers, ...(denied.length > 0 && { denied }), ...(isImported && { isOptional: true }) };
}

function listed(names: readonly string[]): string {
	return [...new Set(names)].map((name) => `"${name}"`).join(", ");
}
