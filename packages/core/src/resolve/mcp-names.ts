/** Names of MCP servers and their tools, as presets write them and as pi registers them. Pure. */

/** A tool of a server, or all of its tools. Both names as in pi's tool names. */
export interface McpEntry {
	server: string;
	/** Absent: all of them. */
	tool?: string;
}

/** In pi's tool names, `-` is `_`. Servers whose names differ only in that are the same server. */
export function mcpKey(name: string): string {
	return name.replace(/[^A-Za-z0-9_]/g, "_");
}

/**
 * What an entry of `tools` names: `mcp__server__tool`, `mcp__server__*`, `mcp__server`, `mcp:server/tool`, `mcp:server/*`
 * or `mcp:server`. Undefined for any other tool.
 */
export function parseMcpEntry(entry: string): McpEntry | undefined {
	const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(entry) ?? /^mcp:([^/]+)(?:\/(.+))?$/.exec(entry) ?? [];
	if (server === undefined) return undefined;
	return { server: mcpKey(server), ...(tool === undefined || tool === "*" ? {} : { tool: mcpKey(tool) }) };
}

/** As in pi's list of tools: a name, or a pattern for all tools of the server. */
export function mcpToolName({ server, tool = "*" }: McpEntry): string {
	return `mcp__${server}__${tool}`;
}

export function isToolOf(name: string, server: string): boolean {
	return name.startsWith(`mcp__${server}__`);
}
