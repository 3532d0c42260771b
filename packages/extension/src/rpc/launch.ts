/** Launches an agent for another extension, by the same way as any other launch. */
import { isAbsolute } from "node:path";
import { AgentError, type AgentRecord, isThinkingLevel, type Manager, quoted } from "@pi-subagents/core";
import type { CheckedOptions, CheckedSpawn } from "@pi-subagents/rpc";
import type { Delivery } from "../delivery/delivery.ts";
import type { Host } from "../host.ts";
import type { Launcher, LaunchParams } from "../launch.ts";

export interface RpcDeps {
	manager: Manager;
	launcher: Pick<Launcher, "resolve">;
	host: Pick<Host, "session" | "tell">;
	delivery: Pick<Delivery, "apart" | "claim">;
}

/**
 * Nobody waits for it in a call, and it waits for a slot like any other. With `isBackground` the session is told of the
 * result; without it the caller alone is, and the agent goes before those in the background.
 */
export async function launchFor(request: CheckedSpawn, deps: RpcDeps): Promise<AgentRecord> {
	const { manager, launcher, host, delivery } = deps;
	const { name, isBackground = false, signal } = request.options;
	const session = host.session();
	if (!session) throw new Error("No active session");
	signal?.throwIfAborted();
	const { spec } = await launcher.resolve({ ...paramsOf(request), keepsFiles: true }, session);
	signal?.throwIfAborted();
	const record = delivery.apart(() => manager.spawn(spec, { isBackground, ...(name === undefined ? {} : { name }) }));
	if (signal) stopOn(signal, record.id, manager);
	return record;
}

/** The signal may live much longer than the agent, so it is not held on to. */
function stopOn(signal: AbortSignal, id: string, manager: Manager): void {
	const stop = () => manager.abort(id, { by: "parent", reason: "the extension that launched it gave it up" });
	signal.addEventListener("abort", stop, { once: true });
	const leave = manager.store.subscribe((event) => {
		if (event.agentId !== id || event.type !== "agent_settled") return;
		signal.removeEventListener("abort", stop);
		leave();
	});
}

function paramsOf({ type, prompt, options }: CheckedSpawn): LaunchParams {
	const { description, model, maxTurns, isolated, isolation, inheritContext, cwd, outputSchema } = options;
	if (cwd !== undefined && !isAbsolute(cwd))
		throw new AgentError("bad_request", `cwd must be an absolute path, not ${quoted(cwd)}.`);
	return {
		preset: type,
		task: prompt,
		description,
		model,
		maxTurns,
		thinking: thinkingOf(options),
		isolated,
		isolation,
		inheritContext,
		outputSchema,
		cwd,
	};
}

function thinkingOf({ thinkingLevel }: CheckedOptions): LaunchParams["thinking"] {
	if (thinkingLevel === undefined || isThinkingLevel(thinkingLevel)) return thinkingLevel;
	throw new AgentError(
		"bad_request",
		`${quoted(thinkingLevel)} is no thinking level: off, minimal, low, medium, high, xhigh, max.`,
	);
}
