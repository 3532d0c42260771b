/** Launches an agent for another extension, through the same path as any other launch. */

import { isAbsolute } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type Manager, type RunSpec } from "@pi-subagents/core";
import { defined, quoted } from "@pi-subagents/core/internal/base";
import type { Delivery } from "@pi-subagents/delivery";
import type { Launcher, LaunchParams, RuntimePresets } from "@pi-subagents/launch";
import { isThinkingLevel, THINKING_LEVELS } from "@pi-subagents/progress";
import type { CheckedOptions, CheckedSpawn, CheckedWorkflow } from "@pi-subagents/rpc";
import type { Host } from "../host/host.ts";
import type { LazyWorkflows } from "../workflow/workflows.ts";

export interface RpcDeps {
	manager: Manager;
	launcher: Pick<Launcher<ExtensionContext>, "resolve">;
	host: Pick<Host, "session" | "warn">;
	delivery: Pick<Delivery, "apart" | "claim">;
	runtimePresets: RuntimePresets;
	workflows: Pick<LazyWorkflows, "load">;
	/** What callers gave for later, by agent. */
	callerData: CallerData;
}

/** Kept while the session is open: worktrees are closed and records read long after the launch. */
export interface CallerData {
	beforeCleanup: Map<string, (path: string) => unknown>;
	invocations: Map<string, Readonly<Record<string, unknown>>>;
}

export function createCallerData(): CallerData {
	return { beforeCleanup: new Map(), invocations: new Map() };
}

/**
 * It waits for a slot like any other. With `isBackground`, the result is delivered to the session; without it, only to
 * the caller, and the agent is queued before background agents.
 */
export async function launchAgent(request: CheckedSpawn, deps: RpcDeps, wantedId?: string): Promise<AgentRecord> {
	const { manager, launcher, callerData } = deps;
	const { name, isBackground = false, signal, invocation, onBeforeWorktreeCleanup } = request.options;
	const session = sessionIn(deps);
	signal?.throwIfAborted();
	const { spec } = await launcher.resolve(paramsOf(request), session);
	signal?.throwIfAborted();
	const id = wantedId ?? manager.newId();
	if (invocation) callerData.invocations.set(id, invocation);
	if (onBeforeWorktreeCleanup) callerData.beforeCleanup.set(id, onBeforeWorktreeCleanup);
	return spawn(spec, { id, isBackground, ...defined({ name }) }, signal, deps);
}

export async function launchWorkflow(request: CheckedWorkflow, deps: RpcDeps): Promise<AgentRecord> {
	const { isBackground = false, signal, ...call } = request;
	const session = sessionIn(deps);
	const spec = await (await deps.workflows.load()).prepare(call, session);
	signal?.throwIfAborted();
	return spawn(spec, { isBackground }, signal, deps);
}

function sessionIn({ host }: RpcDeps): ExtensionContext {
	const session = host.session();
	if (!session) throw new Error("No active session");
	return session;
}

function spawn(
	spec: RunSpec,
	options: Parameters<Manager["spawn"]>[1],
	signal: AbortSignal | undefined,
	{ manager, delivery }: RpcDeps,
): AgentRecord {
	const record = delivery.apart(() => manager.spawn(spec, { ...options, launchedBy: "rpc" }));
	if (signal) stopOn(signal, record.id, manager);
	return record;
}

/** The signal may outlive the agent, so the listener is removed when the agent settles. */
function stopOn(signal: AbortSignal, id: string, manager: Manager): void {
	const stop = () => manager.abort(id, { by: "parent", reason: "the extension that launched it cancelled it" });
	signal.addEventListener("abort", stop, { once: true });
	const unsubscribe = manager.store.subscribe(({ event }) => {
		if (event.agentId !== id || event.type !== "agent_settled") return;
		signal.removeEventListener("abort", stop);
		unsubscribe();
	});
}

function paramsOf({ type, prompt, options }: CheckedSpawn): LaunchParams {
	const { description, model, maxTurns, isolated, isolation, inheritContext, cwd, outputSchema } = options;
	const { fallbackSubagent: fallbackPreset, machine, retry, verify } = options;
	if (cwd !== undefined && !isAbsolute(cwd))
		throw new AgentError("bad_request", `cwd must be an absolute path, not ${quoted(cwd)}.`);
	return {
		preset: type,
		fallbackPreset,
		task: prompt,
		description,
		model,
		maxTurns,
		thinking: thinkingOf(options),
		isolated,
		isolation,
		machine,
		retry,
		inheritContext,
		outputSchema,
		verify,
		verifyBy: "extension" as const,
		cwd,
	};
}

function thinkingOf({ thinkingLevel }: CheckedOptions): LaunchParams["thinking"] {
	if (thinkingLevel === undefined || isThinkingLevel(thinkingLevel)) return thinkingLevel;
	throw new AgentError(
		"bad_request",
		`${quoted(thinkingLevel)} is not a thinking level: ${THINKING_LEVELS.join(", ")}.`,
	);
}
