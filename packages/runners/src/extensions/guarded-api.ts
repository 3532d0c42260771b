/**
 * What a guard gets as pi's API inside a child. The guard behaves as in the user's own session, but where pi would go on
 * without its answer, the child does not: a guard that failed has not agreed. Also bundled into a child's process.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { asSession, type SessionView, takeChanges } from "./session-view.ts";

/** A guard as its child sees it. */
export interface GuardInChild {
	/** What people call it. */
	name: string;
	/** Whether the preset asks for its tools. What replaces a built-in tool is always there. */
	offersTools: boolean;
	/** Absent if the child works where the session does. */
	view?: SessionView;
}

/** Where the child runs. */
export interface GuardSite {
	/** A guard failed before the child has begun, so the child must not begin. */
	fail(why: string, ctx: ExtensionContext): void;
	/** Fires when the run is stopped: a guard that has not answered by then refuses. */
	stopping?: AbortSignal;
	/** Whether models and providers are those of the parent, which a child must not change. */
	sharesProviders: boolean;
}

/** The names of pi's own tools. An extension that has a tool of this name replaces it. */
export const BUILTIN_TOOLS: ReadonlySet<string> = new Set([
	...["read", "bash", "powershell", "edit", "write", "grep", "find", "ls"],
]);

type On = (event: string, handler: Handler) => unknown;
type Handler = (event: unknown, ctx: ExtensionContext) => unknown;

/** Events before the first request; pi only reports an error in them. */
const BEFORE_START: ReadonlySet<string> = new Set(["session_start", "input", "before_agent_start"]);

const PROVIDER_METHODS = [
	...["registerProvider", "unregisterProvider", "registerVirtualModel", "unregisterVirtualModel"],
];
const MCP_METHODS = ["registerMcpServer", "unregisterMcpServer"];

export function guardedApi(pi: ExtensionAPI, guard: GuardInChild, site: GuardSite): ExtensionAPI {
	const on: On = (event, handler) => (pi.on as On)(event, guarded(event, handler, guard, site));
	const registerTool: ExtensionAPI["registerTool"] = (tool) => {
		if (guard.offersTools || BUILTIN_TOOLS.has(tool.name)) pi.registerTool(tool);
	};
	const mcp = guard.offersTools ? {} : inert(MCP_METHODS, pi);
	return extended(site.sharesProviders ? withoutProviders(pi) : pi, { on, registerTool, ...mcp });
}

/** For a child that shares the parent's models: what it registers or removes would be the parent's, too. */
export function withoutProviders(pi: ExtensionAPI): ExtensionAPI {
	return extended(pi, inert(PROVIDER_METHODS, pi));
}

/** Some exist only in a newer pi. */
function inert(methods: readonly string[], pi: ExtensionAPI): Record<string, () => void> {
	return Object.fromEntries(methods.filter((name) => name in pi).map((name) => [name, () => undefined]));
}

/** pi's API with other methods. Getters stay getters, and an extension may spread it. */
export function extended(pi: ExtensionAPI, methods: Readonly<Record<string, unknown>>): ExtensionAPI {
	const others = Object.entries(methods).map(([name, value]) => [
		name,
		{ value, enumerable: true, configurable: true, writable: true },
	]);
	return Object.defineProperties(
		{},
		{ ...Object.getOwnPropertyDescriptors(pi), ...Object.fromEntries(others) },
	) as ExtensionAPI;
}

function guarded(event: string, handler: Handler, guard: GuardInChild, site: GuardSite): Handler {
	if (event === "session_shutdown") return handler; // it is what a stop leads to
	const stopped = stoppedAnswer(event);
	const seeing = guard.view ? fromSession(event, handler, guard.view) : handler;
	const asked: Handler = (about, ctx) => answerOrStop(() => seeing(about, ctx), site.stopping, stopped);
	if (event === "tool_result")
		return async (about, ctx) => {
			try {
				return await asked(about, ctx);
			} catch (error) {
				return withheld(`The result was withheld, because ${guard.name} failed to check it: ${textOf(error)}`);
			}
		};
	if (BEFORE_START.has(event))
		return async (about, ctx) => {
			try {
				return await asked(about, ctx);
			} catch (error) {
				site.fail(`The agent did not start, because ${guard.name} failed in ${event}: ${textOf(error)}`, ctx);
				return event === "input" ? { action: "handled" } : undefined;
			}
		};
	return asked; // a `tool_call` handler that throws refuses the call, in pi
}

/** The handler, for which the session's directory is the place of everything. */
function fromSession(event: string, handler: Handler, view: SessionView): Handler {
	if (event !== "tool_call" && event !== "tool_result") return (about, ctx) => handler(about, placed(ctx, view));
	return async (about, ctx) => {
		const { toolName, input } = about as { toolName: string; input: Record<string, unknown> };
		const shown = asSession(toolName, input, view);
		const before = structuredClone(shown);
		const answer = await handler({ ...(about as object), input: shown }, placed(ctx, view));
		if (event === "tool_call") takeChanges(toolName, input, { before, after: shown }, view);
		return answer;
	};
}

/** The context keeps its getters, which throw when it is stale. */
function placed(ctx: ExtensionContext, { session }: SessionView): ExtensionContext {
	const cwd = () => (ctx.cwd === undefined ? ctx.cwd : session);
	return Object.defineProperties(
		{},
		{ ...Object.getOwnPropertyDescriptors(ctx), cwd: { get: cwd, enumerable: true, configurable: true } },
	) as ExtensionContext;
}

/** The handler's answer, or this one as soon as the run is stopped: a guard may wait for ever, and a stop must not. */
async function answerOrStop(ask: () => unknown, stopping: AbortSignal | undefined, stopped: unknown): Promise<unknown> {
	if (!stopping) return ask();
	const { promise, resolve } = Promise.withResolvers<unknown>();
	const stop = () => resolve(stopped);
	if (stopping.aborted) stop();
	else stopping.addEventListener("abort", stop, { once: true });
	try {
		return await Promise.race([ask(), promise]);
	} finally {
		stopping.removeEventListener("abort", stop);
	}
}

function stoppedAnswer(event: string): unknown {
	if (event === "tool_call") return { block: true, reason: "The agent was stopped." };
	if (event === "tool_result") return withheld("The agent was stopped before its result was checked.");
	return event === "input" ? { action: "handled" } : undefined;
}

function withheld(text: string) {
	return { content: [{ type: "text", text }], details: {}, isError: true };
}

function textOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
