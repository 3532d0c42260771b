/** How a child in its own process learns which MCP servers and tools it has: a variable of its environment. */

import type { RunSpec } from "@pi-subagents/core";
import type { McpWish } from "../../mcp/child-servers.ts";

const VARIABLE = "PI_SUBAGENTS_MCP";

/** The variables for the child's environment. */
export function mcpVariables({ tools, mcp }: Pick<RunSpec, "tools" | "mcp">): Record<string, string> {
	if (!mcp) return {};
	const wish: McpWish = { tools, mcp };
	return { [VARIABLE]: JSON.stringify(wish) };
}

export function readMcpWish(env: NodeJS.ProcessEnv): McpWish | undefined {
	const said = env[VARIABLE];
	return said ? (JSON.parse(said) as McpWish) : undefined; // written by `mcpVariables`
}
