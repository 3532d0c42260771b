/** A job that is due: its agent is launched like any other, and its result is told like any other's. */
import { type Manager, messageOf, type Outcome, runIdOf } from "@pi-subagents/core";
import { outcomeText } from "@pi-subagents/progress";
import type { Job } from "@pi-subagents/schedule";
import type { Delivery } from "../delivery/delivery.ts";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import { assertStandsAlone, type KeptCall, parseCall } from "./call.ts";
import type { Announce } from "./events.ts";
import { assertTrusted } from "./place.ts";
import type { Scope } from "./request.ts";

export interface FireDeps {
	manager: Manager;
	launcher: Launcher;
	host: Host;
	delivery: Delivery;
	announce: Announce;
	/** What to reject with where nothing has begun, so that the job is not taken for done. */
	notBegun: (why: string) => Error;
}

/**
 * Resolves with how it went when the agent has settled, and rejects where it did not succeed. The signal ends only the
 * waiting: what becomes of the agent is the business of the session, or of the user.
 */
export async function fire(job: Job, scope: Scope, signal: AbortSignal, deps: FireDeps): Promise<string> {
	const { host, announce, notBegun } = deps;
	let hasLaunched = false;
	try {
		const { id, name, outcome } = await launch(job, scope, signal, deps);
		hasLaunched = true;
		announce({ type: "fired", jobId: job.id, agentId: id, name });
		const ended = await Promise.race([outcome, givenUp(signal)]);
		if (ended.status === "completed") return `agent ${id}: ${outcomeText(ended)}`;
		throw new Failed(`agent ${id}: ${outcomeText(ended)}`);
	} catch (error) {
		// The session is ending: whoever opens it next sees to a job that came too late.
		if (!hasLaunched && !host.session()) await givenUp(signal).catch(() => undefined);
		if (signal.aborted) throw hasLaunched ? error : notBegun(messageOf(error));
		announce({ type: "error", jobId: job.id, error: messageOf(error) });
		// An agent that failed is told of by itself; one that could not be launched is not.
		if (!(error instanceof Failed))
			host.tell(`The scheduled job "${job.name}" (${job.id}) could not launch its agent: ${messageOf(error)}`);
		throw error;
	}
}

class Failed extends Error {}

async function launch(job: Job, scope: Scope, signal: AbortSignal, deps: FireDeps) {
	const { manager, launcher, host, delivery } = deps;
	const ctx = host.session();
	if (!ctx) throw new Error("No session is open.");
	if (scope === "project") assertTrusted(host, ctx);
	const { name, quiet, ...call }: KeptCall = parseCall(job.payload);
	const description = `${call.description} (scheduled)`;
	const { spec } = await launcher.resolve({ ...call, description, keepsFiles: true }, ctx);
	assertStandsAlone(spec);
	signal.throwIfAborted();
	if (host.session() !== ctx) throw new Error("Its session has ended.");
	const options = { isBackground: true, ...(name === undefined ? {} : { name }) };
	const { id, run } = delivery.apart(() => manager.spawn(spec, options));
	const letGo = quiet ? delivery.expect(runIdOf({ agentId: id, run })) : undefined;
	const outcome = manager.wait(id).then((ended): Outcome => {
		const record = manager.store.record(id);
		if (quiet && record && ended.status === "completed") delivery.silence(record);
		letGo?.();
		return ended;
	});
	return { id, name: name ?? job.name, outcome };
}

function givenUp(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => {
		const giveUp = () => reject(new Error("Nobody waited for it any more."));
		if (signal.aborted) giveUp();
		signal.addEventListener("abort", giveUp, { once: true });
	});
}
