/** Runs a due job: its agent is launched, and its result delivered, like any other. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type Manager, type Outcome, type RunSpec, runIdOf } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import type { Delivery } from "@pi-subagents/delivery";
import type { Launcher, Scope } from "@pi-subagents/launch";
import { type KeptCall, parseCall, type ScheduledCall } from "@pi-subagents/launch";
import { endText } from "@pi-subagents/progress";
import type { Job } from "@pi-subagents/schedule";
import type { Host } from "../host/host.ts";
import type { LazyWorkflows } from "../workflow/workflows.ts";
import type { PublishScheduleEvent } from "./events.ts";
import { assertTrusted } from "./job-storage.ts";

export interface FireDeps {
	manager: Manager;
	launcher: Launcher<ExtensionContext>;
	host: Host;
	delivery: Delivery;
	workflows: Pick<LazyWorkflows, "load">;
	publish: PublishScheduleEvent;
	/** Creates the error for a run that never started, so that the job does not count as done. */
	notBegun: (why: string) => Error;
}

/**
 * Resolves with a summary when the agent has completed, and rejects if it did not succeed. The signal ends only the
 * waiting: the agent belongs to the session or the user.
 */
export async function fire(job: Job, scope: Scope, signal: AbortSignal, deps: FireDeps): Promise<string> {
	const { host, publish, notBegun } = deps;
	let hasLaunched = false;
	try {
		const { id, name, outcome } = await launch(job, scope, signal, deps);
		hasLaunched = true;
		publish({ type: "fired", jobId: job.id, agentId: id, name });
		const ended = await Promise.race([outcome, rejectOnAbort(signal)]);
		if (ended.status === "completed") return `agent ${id}: ${endText(ended)}`;
		throw new Failed(`agent ${id}: ${endText(ended)}`);
	} catch (error) {
		// The session is ending: the next pi that opens it handles the missed job.
		if (!hasLaunched && !host.session()) await rejectOnAbort(signal).catch(() => undefined);
		if (signal.aborted) throw hasLaunched ? error : notBegun(messageOf(error));
		publish({ type: "error", jobId: job.id, error: messageOf(error) });
		// A failed agent is reported by delivery; a failed launch is not.
		if (!(error instanceof Failed))
			host.warn(`The scheduled job "${job.name}" (${job.id}) could not launch its agent: ${messageOf(error)}`);
		throw error;
	}
}

class Failed extends Error {}

export const SWITCHED_OFF = "Scheduling is switched off (setting `scheduling`).";

async function launch(job: Job, scope: Scope, signal: AbortSignal, deps: FireDeps) {
	const { manager, launcher, host, delivery } = deps;
	const ctx = host.session();
	if (!ctx) throw new Error("No session is open.");
	// It may have been switched off since the job was made, and nothing has read the settings since.
	if (!(await launcher.settings(ctx)).scheduling) throw new AgentError("unsupported", SWITCHED_OFF);
	if (scope === "project") assertTrusted(host, ctx);
	const { name, quiet, ...call }: KeptCall = parseCall(job.payload);
	const description = `${call.description} (scheduled)`;
	const spec = await specFor({ ...call, description, isVerifyKept: true }, ctx, deps);
	signal.throwIfAborted();
	if (host.session() !== ctx) throw new Error("Its session has ended.");
	const options = { isBackground: true, launchedBy: "schedule" as const, ...defined({ name }) };
	const { id, run } = delivery.apart(() => manager.spawn(spec, options));
	const release = quiet ? delivery.expect(runIdOf({ agentId: id, run })) : undefined;
	const outcome = manager.wait(id).then((ended): Outcome => {
		const record = manager.store.record(id);
		if (quiet && record && ended.status === "completed") delivery.silence(record);
		release?.();
		return ended;
	});
	return { id, name: name ?? job.name, outcome };
}

/** A job can do no more than a call: each time it is resolved again, that of a workflow too. */
export async function specFor(
	{ workflow, ...call }: ScheduledCall,
	ctx: ExtensionContext,
	{ launcher, workflows }: Pick<FireDeps, "launcher" | "workflows">,
): Promise<RunSpec> {
	if (!workflow) return (await launcher.resolve({ ...call, standsAlone: true }, ctx)).spec;
	const { description, isTrial } = call;
	return (await workflows.load()).prepare(workflow, ctx, defined({ description, isTrial }));
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => {
		const fail = () => reject(new Error("The session stopped waiting for it."));
		if (signal.aborted) fail();
		signal.addEventListener("abort", fail, { once: true });
	});
}
