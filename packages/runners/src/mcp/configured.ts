/**
 * Which MCP servers pi would connect in a directory, read by pi itself: its rules for files, trust and names stay its own.
 * It is asked to connect them with a transport that refuses, so nothing is started.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type CreateMcp, type McpServerEntry, runMcp } from "./pi-mcp.ts";

/** All that pi looks at. */
export interface McpPlace {
	cwd: string;
	/** Servers of an untrusted project do not count. */
	isTrusted: boolean;
	/** Servers that extensions registered in this session. */
	registered?: () => unknown[];
}

export async function configuredServers(
	create: CreateMcp,
	{ cwd, isTrusted, registered = () => [] }: McpPlace,
): Promise<McpServerEntry[]> {
	const servers: McpServerEntry[] = [];
	const createTransport = (entry: McpServerEntry) => {
		servers.push(entry);
		throw new Error("only its configuration was read");
	};
	const mcp = runMcp(create, { createTransport }, { getMcpServers: registered });
	const ctx = { cwd, isProjectTrusted: () => isTrusted, ui: { notify: () => undefined } };
	// pi's MCP support uses no more of a context than this to read its files.
	const bare = ctx as unknown as ExtensionContext;
	await mcp.start({ type: "session_start", reason: "startup" }, bare);
	await mcp.settled();
	await mcp.stop(bare);
	return servers;
}
