/**
 * The MCP servers of a child, connected by pi's own MCP support inside its session: only those that its spec names,
 * with their tools declared to the model. Waits for them, with a time limit, and says what is missing.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "@pi-subagents/core";
import { type Clock, isToolOf, systemClock } from "@pi-subagents/core";
import { clip, messageOf, within } from "@pi-subagents/core/internal/base";
import type { McpSpec } from "@pi-subagents/core/internal/run";
import { mcpKey, parseMcpEntry } from "@pi-subagents/core/internal/run";
import { sanitizeBlock } from "@pi-subagents/progress";
import { configuredServers } from "./configured.ts";
import { type CreateMcp, type McpServerEntry, type McpTool, runMcp } from "./pi-mcp.ts";

/** How long the servers of a child may take together. pi gives up on a request after a minute by itself. */
const CONNECT_MS = 30_000;

/** The part of a spec that says which servers and tools. */
export type McpWish = Pick<RunSpec, "tools"> & { mcp: McpSpec };

export interface ChildServersOptions {
	create: CreateMcp;
	wish: McpWish;
	/** Called once, when the servers have connected or not: what is missing, one sentence each. */
	onReady: (missing: readonly string[]) => void | Promise<void>;
	clock?: Pick<Clock, "after">;
}

/** Installs them in a child's session; its `session_start` waits for them. */
export function connectChildServers(
	pi: ExtensionAPI,
	{ create, wish, onReady, clock = systemClock }: ChildServersOptions,
): void {
	let servers: McpServerEntry[] = [];
	const offered = new Set<string>();
	const mcp = runMcp(
		create,
		{ loadConfig: () => ({ servers, errors: [], autoEnableCodemode: false }) },
		{
			pi,
			getMcpServers: () => [], // they are among `servers`
			registerTool(tool: McpTool) {
				const isOffered = isWished(tool.name, wish) && tool.exposure !== "hidden";
				if (isOffered) offered.add(tool.name);
				if (isOffered || offered.has(tool.name)) pi.registerTool(tool as Parameters<typeof pi.registerTool>[0]);
			},
		},
	);
	pi.on("session_start", async (event, ctx) => {
		let found: readonly McpServerEntry[] = [];
		let states: string | undefined;
		const connect = async () => {
			found = await configuredServers(create, {
				cwd: ctx.cwd,
				isTrusted: ctx.isProjectTrusted(),
				registered: () => registeredIn(pi),
			});
			servers = found.filter(({ name }) => wish.mcp.servers.includes(mcpKey(name))).map(declared);
			await mcp.start(event, quiet(ctx));
			states = await mcp.settled();
		};
		try {
			await within(CONNECT_MS, connect(), clock);
			await onReady(missingOf(wish, { found, offered, states }));
		} catch (error) {
			await onReady([`pi's MCP support failed: ${messageOf(error)}`]);
		}
	});
	pi.on("session_shutdown", (_event, ctx) => mcp.stop(ctx));
}

/** pi 0.99 has no such function yet, so that extensions can register none. */
function registeredIn(pi: ExtensionAPI): unknown[] {
	const { getMcpServers } = pi as { getMcpServers?: () => unknown[] };
	return getMcpServers?.() ?? [];
}

/** A child's model calls its tools directly. What the user hides stays hidden. */
function declared({ name, source, config }: McpServerEntry): McpServerEntry {
	const direct = (exposure: string | undefined) => (exposure === "hidden" ? exposure : "direct");
	const { toolExposure = {}, ...rest } = config;
	const exposures = Object.entries(toolExposure).map(([tool, exposure]) => [tool, direct(exposure)] as const);
	return {
		name,
		source,
		config: { ...rest, exposure: direct(config.exposure), toolExposure: Object.fromEntries(exposures) },
	};
}

/** What is missing is reported by us, once. */
function quiet(ctx: ExtensionContext): ExtensionContext {
	const ui = new Proxy(ctx.ui, {
		get: (target, key) => (key === "notify" ? () => undefined : Reflect.get(target, key)),
	});
	return new Proxy(ctx, { get: (target, key) => (key === "ui" ? ui : Reflect.get(target, key)) });
}

function isWished(name: string, { tools, mcp: { denied = [] } }: McpWish): boolean {
	if (denied.includes(name)) return false;
	return tools.some((entry) => entry === name || (entry.endsWith("__*") && name.startsWith(entry.slice(0, -1))));
}

interface Found {
	/** All servers that pi would connect here. */
	found: readonly McpServerEntry[];
	offered: ReadonlySet<string>;
	/** Undefined if the time was up. */
	states: string | undefined;
}

/** One sentence for each server or tool that the child lacks. */
function missingOf({ tools, mcp }: McpWish, { found, offered, states }: Found): string[] {
	return mcp.servers.flatMap((server) => {
		const entry = found.find(({ name }) => mcpKey(name) === server);
		if (!entry) return [unknownServer(server, found)];
		const has = [...offered].filter((name) => isToolOf(name, server));
		if (has.length === 0) return [notConnected(entry.name, states)];
		const lacks = tools.filter((name) => parseMcpEntry(name)?.server === server && !name.endsWith("__*"));
		return lacks
			.filter((name) => !offered.has(name))
			.map((name) => `The MCP server "${entry.name}" does not have the tool ${name}.`);
	});
}

export function unknownServer(server: string, found: readonly McpServerEntry[]): string {
	const names = found.map(({ name }) => name).join(", ");
	return `There is no enabled MCP server "${server}" here; ${names === "" ? "there is none" : `there is ${names}`}. Look at \`pi mcp list\`.`;
}

const MAX_STATE = 500;

/** pi prints one line for each server, with the lines of its error indented below. */
function notConnected(name: string, states: string | undefined): string {
	if (states === undefined) return `The MCP server "${name}" did not answer within ${CONNECT_MS / 1_000} seconds.`;
	const lines = sanitizeBlock(states).split("\n");
	const start = lines.findIndex((line) => line.startsWith(`${name}: `));
	const end = lines.findIndex((line, index) => index > start && !line.startsWith(" "));
	const said = lines.slice(Math.max(start, 0), end < 0 ? undefined : end).map((line) => line.trim());
	return `The MCP server "${name}" offers none of the tools asked for: ${clip(said.join(" ").slice(name.length + 2), MAX_STATE)}`;
}
