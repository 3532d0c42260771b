/** The MCP servers of a child in this process, and the check before a launch that they exist. */
import * as host from "@earendil-works/pi-coding-agent";
import type { McpFacts, Report, RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { mcpKey } from "@pi-subagents/core/internal/run";
import { connectChildServers, unknownServer } from "../../mcp/child-servers.ts";
import { configuredServers } from "../../mcp/configured.ts";
import { type CreateMcp, type McpTool, mcpOf } from "../../mcp/pi-mcp.ts";

interface ChildServers {
	extension: { name: string; factory: host.ExtensionFactory };
	/** Throws if something is missing that the child needs. To be called when its extensions have started. */
	check(): void;
}

/** Undefined if the spec names no server. */
export function childServers(spec: RunSpec, report: Report | undefined): ChildServers | undefined {
	const { mcp, tools } = spec;
	if (!mcp) return undefined;
	const create = requireMcp(spec);
	let missing: readonly string[] = [];
	const onReady = (found: readonly string[]) => {
		missing = found;
	};
	return {
		extension: {
			name: "subagent-mcp",
			factory: (pi) => connectChildServers(pi, { create, wish: { tools, mcp }, onReady }),
		},
		check() {
			if (missing.length === 0) return;
			if (!mcp.isOptional) throw new AgentError("unsupported", missing.join("\n"));
			report?.(`Agent ${spec.type} runs without some of its tools. ${missing.join(" ")}`);
		},
	};
}

/** Throws if pi knows no such server. Starts none. */
export async function requireServers(spec: RunSpec, isTrusted: boolean): Promise<void> {
	const { mcp, cwd } = spec;
	if (!mcp || mcp.isOptional) return;
	const found = await configuredServers(requireMcp(spec), { cwd, isTrusted });
	const unknown = mcp.servers.filter((server) => !found.some(({ name }) => mcpKey(name) === server));
	if (unknown.length > 0)
		throw new AgentError(
			"unsupported",
			`Preset "${spec.type}" cannot be started. ${unknown.map((server) => unknownServer(server, found)).join(" ")}`,
		);
}

/** A resumed run may have been launched in a newer pi. */
function requireMcp({ type }: RunSpec): CreateMcp {
	const create = mcpOf(host);
	if (create) return create;
	throw new AgentError("unsupported", `Preset "${type}" needs an MCP server, but ${NEEDS_NEWER_PI}.`);
}

const NEEDS_NEWER_PI = `MCP servers need pi 0.99 or newer, and this is pi ${host.VERSION}`;

/** What the launching session knows of MCP. */
export function mcpFacts(pi: Pick<host.ExtensionAPI, "getAllTools" | "getActiveTools" | "getCommands">): McpFacts {
	if (!mcpOf(host)) return { unavailable: NEEDS_NEWER_PI, tools: [] };
	// The user's choice for this session counts for its agents.
	const isOn = pi.getCommands().some(({ name, sourceInfo }) => name === "mcp" && sourceInfo.path === "builtin:mcp");
	if (!isOn) return { unavailable: SWITCHED_OFF, tools: [] };
	const active = new Set(pi.getActiveTools());
	const reachesAll = ["codemode", "tool_search"].some((name) => active.has(name));
	const tools: readonly McpTool[] = pi.getAllTools();
	return {
		tools: tools
			.filter(({ name, exposure }) => name.startsWith("mcp__") && exposure !== "hidden")
			.map(({ name }) => ({ name, isActive: reachesAll || active.has(name) })),
	};
}

const SWITCHED_OFF =
	"pi's MCP support is off in this session (`--no-mcp`, `-builtin:mcp` in its settings, or an extension that replaces it)";
