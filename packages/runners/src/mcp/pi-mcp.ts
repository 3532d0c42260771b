/**
 * What we use of pi's MCP support, which pi has since 0.99. The oldest pi we support has no types for it, so the shapes
 * are written down here; what is not as expected counts as absent.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

/** A server as pi read it from its files, or as an extension registered it. */
export interface McpServerEntry {
	name: string;
	config: { exposure?: string; toolExposure?: Record<string, string> };
	source: string;
}

interface McpOptions {
	loadConfig?: () => { servers: McpServerEntry[]; errors: string[]; autoEnableCodemode: boolean };
	createTransport?: (entry: McpServerEntry) => never;
}

type Handler = (event: object, ctx: ExtensionContext) => unknown;

interface McpCommand {
	handler(args: string, ctx: { mode: "print"; ui: { notify(text: string): void } }): unknown;
}

/** pi's `createMcpExtension`. */
export type CreateMcp = (options: McpOptions) => (pi: ExtensionAPI) => void;

/** From the exports of `@earendil-works/pi-coding-agent`. Undefined in a pi without MCP. */
export function mcpOf(host: object): CreateMcp | undefined {
	const { createMcpExtension } = host as { createMcpExtension?: unknown };
	return typeof createMcpExtension === "function" ? (createMcpExtension as CreateMcp) : undefined;
}

/** A tool as pi's MCP support registers it. */
export interface McpTool {
	name: string;
	/** `hidden`: no one may call it. */
	exposure?: string;
}

/** pi's MCP support, started and ended by us, in a session or apart from any. */
export interface McpInstance {
	/** Connects the servers in the background. */
	start(event: object, ctx: ExtensionContext): Promise<void>;
	/** Resolves with the state of every server, as `/mcp` prints it, when each has connected or failed. */
	settled(): Promise<string>;
	stop(ctx: ExtensionContext): Promise<void>;
}

/** `replaced` are the members of pi's API that the instance must not get; without `pi` it gets no others either. */
export function runMcp(
	create: CreateMcp,
	options: McpOptions,
	{ pi, ...replaced }: { pi?: ExtensionAPI } & Partial<Record<string, unknown>>,
): McpInstance {
	const handlers = new Map<string, Handler[]>();
	let command: McpCommand | undefined;
	const own: Record<string, unknown> = {
		on(name: string, handler: Handler) {
			if (pi && name !== "session_start" && name !== "session_shutdown") pi.on(name as "turn_start", handler as never);
			else handlers.set(name, [...(handlers.get(name) ?? []), handler]);
		},
		registerCommand(_name: string, given: McpCommand) {
			command = given;
		},
		...replaced,
	};
	create(options)(
		new Proxy({} as ExtensionAPI, {
			get: (_, key) => own[String(key)] ?? (pi ? Reflect.get(pi, key) : () => []),
		}),
	);
	const emit = async (name: string, event: object, ctx: ExtensionContext) => {
		for (const handler of handlers.get(name) ?? []) await handler(event, ctx);
	};
	return {
		start: (event, ctx) => emit("session_start", event, ctx),
		async settled() {
			let said = "";
			const notify = (text: string) => {
				said = text;
			};
			await command?.handler("", { mode: "print", ui: { notify } });
			return said;
		},
		stop: (ctx) => emit("session_shutdown", { type: "session_shutdown", reason: "quit" }, ctx),
	};
}
