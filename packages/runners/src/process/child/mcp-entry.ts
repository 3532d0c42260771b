/**
 * The extension of ours that a child process loads if its spec names MCP servers: it connects them before the child
 * begins. A file apart from the child's other extension, because only this one needs pi's modules at run time.
 */
import * as host from "@earendil-works/pi-coding-agent";
import { connectChildServers } from "../../mcp/child-servers.ts";
import { mcpOf } from "../../mcp/pi-mcp.ts";
import { noticeMessage } from "../pi/tunnel.ts";
import { readMcpWish } from "./mcp-wish.ts";

export default function mcpEntry(pi: host.ExtensionAPI): void {
	const wish = readMcpWish(process.env);
	if (!wish) return;
	const create = mcpOf(host);
	const ready = Promise.withResolvers<readonly string[]>();
	if (create) connectChildServers(pi, { create, wish, onReady: ready.resolve });
	else ready.resolve([`MCP servers need pi 0.99 or newer, and this is pi ${host.VERSION}.`]);
	pi.on("session_start", async (_event, { ui }) => {
		const missing = await ready.promise;
		if (missing.length === 0) return;
		if (wish.mcp.isOptional) ui.notify(missing.join("\n"), "warning");
		else ui.notify(noticeMessage({ failed: missing.join("\n") }));
	});
	pi.on("before_agent_start", async () => void (await ready.promise));
}
