/** What a child does about its MCP servers, with a stand-in for pi's MCP support. With pi's own: `mcp.test.ts` of `e2e`. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { handClock } from "../../../core/src/testing/index.ts";
import { connectChildServers, type McpWish } from "../../src/mcp/child-servers.ts";
import type { CreateMcp, McpServerEntry, McpTool } from "../../src/mcp/pi-mcp.ts";

type Handler = (event: object, ctx: object) => unknown;

/** Reads these servers, and connects those that it is given: `tools` of a server are what it offers. */
function standIn(configured: readonly McpServerEntry[], tools: Record<string, Promise<McpTool[]>>): CreateMcp {
	return (options) => (api) => {
		const pi = api as unknown as { on(name: string, handler: Handler): void } & Record<
			string,
			(...args: unknown[]) => void
		>;
		let states: Promise<string> = Promise.resolve("");
		const connect = async ({ name, config }: McpServerEntry) => {
			try {
				const { createTransport } = options as { createTransport?: (entry: McpServerEntry) => void };
				createTransport?.({ name, config, source: "mcp.json" });
				for (const tool of (await tools[name]) ?? []) pi.registerTool?.({ exposure: config.exposure, ...tool });
				return `${name}: connected (${config.exposure})`;
			} catch (error) {
				return `${name}: failed (direct)\n    ${String(error)}\n    on two lines`;
			}
		};
		pi.on("session_start", () => {
			const servers = options.loadConfig?.().servers ?? configured;
			states = Promise.all(servers.map(connect)).then((lines) => lines.join("\n"));
		});
		pi.registerCommand?.("mcp", {
			handler: async (_args: string, { ui }: { ui: { notify(text: string): void } }) => ui.notify(await states),
		});
	};
}

const server = (name: string, config = {}): McpServerEntry => ({ name, config, source: "mcp.json" });
const tool = (name: string, exposure?: string) => ({ name, ...(exposure === undefined ? {} : { exposure }) });

function start(create: CreateMcp, wish: McpWish) {
	const handlers = new Map<string, Handler>();
	const declared: McpTool[] = [];
	const pi = {
		on: (name: string, handler: Handler) => void handlers.set(name, handler),
		registerTool: (each: McpTool) => void declared.push(each),
	};
	const clock = handClock();
	const ready = Promise.withResolvers<readonly string[]>();
	connectChildServers(pi as unknown as ExtensionAPI, { create, wish, onReady: ready.resolve, clock });
	const ctx = { cwd: "/project", isProjectTrusted: () => false, ui: {} } as unknown as ExtensionContext;
	const started = Promise.resolve(handlers.get("session_start")?.({ type: "session_start" }, ctx));
	return { clock, declared, missing: ready.promise, started };
}

test("only what the spec names is declared, directly; what the user hides stays hidden", async () => {
	const create = standIn([server("my-docs", { toolExposure: { "drop*": "hidden" } }), server("other")], {
		"my-docs": Promise.resolve([
			tool("mcp__my_docs__search"),
			tool("mcp__my_docs__send"),
			tool("mcp__my_docs__drop", "hidden"),
			tool("list_mcp_resources"),
		]),
		other: Promise.resolve([tool("mcp__other__x")]),
	});
	const wish = { tools: ["read", "mcp__my_docs__*"], mcp: { servers: ["my_docs"], denied: ["mcp__my_docs__send"] } };
	const { missing, declared } = start(create, wish);
	expect(await missing).toEqual([]);
	expect(declared).toEqual([{ name: "mcp__my_docs__search", exposure: "direct" }]);
});

test("what is missing is named: the server, its state, or its tool", async () => {
	const create = standIn([server("up"), server("down")], {
		up: Promise.resolve([tool("mcp__up__x")]),
		down: Promise.reject(new Error("no such program")),
	});
	const servers = ["up", "down", "nowhere"];
	const { missing } = start(create, {
		tools: ["mcp__up__y", "mcp__down__x", "mcp__nowhere__*", "mcp__up__x"],
		mcp: { servers },
	});
	expect(await missing).toEqual([
		'The MCP server "up" does not have the tool mcp__up__y.',
		'The MCP server "down" offers none of the tools asked for: failed (direct) Error: no such program on two lines',
		'There is no enabled MCP server "nowhere" here; there is up, down. Look at `pi mcp list`.',
	]);
});

test("a server that never answers ends the wait after half a minute", async () => {
	const create = standIn([server("silent")], { silent: new Promise(() => undefined) });
	const { missing, clock, started } = start(create, { tools: ["mcp__silent__*"], mcp: { servers: ["silent"] } });
	await new Promise(setImmediate); // until it waits
	clock.advance(30_000);
	expect(await missing).toEqual(['The MCP server "silent" did not answer within 30 seconds.']);
	await started;
});

test("a broken MCP support is said so", async () => {
	const create: CreateMcp = (options) => (pi) => {
		if (!options.loadConfig) throw new Error("changed");
		(pi as unknown as { on(name: string): void }).on("turn_start");
	};
	const { missing } = start(create, { tools: ["mcp__a__b"], mcp: { servers: ["a"] } });
	expect(await missing).toEqual(["pi's MCP support failed: changed"]);
});
