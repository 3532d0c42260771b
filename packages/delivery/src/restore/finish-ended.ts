/**
 * What is left of runs that the session knows to be over. A stop is recorded before its processes are gone, so pi may
 * have been killed in between, or the wrapper may have hung when pi was closed: such a stop is finished here. Records of
 * processes that are gone are removed.
 */
import { basename } from "node:path";
import type { Clock, Manager, Report, Stop } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import { RunProcesses, recordedRuns } from "@pi-subagents/core/internal/signals";
import { claimRun, isWatched, outcomeOfEntry, releaseRun } from "@pi-subagents/runs";
import type { LoggedRun } from "../journal/journal.ts";
import { describe } from "./describe-run.ts";
import { hasWrapperHere } from "./run-ends.ts";

interface FinishDeps {
	manager: Manager;
	agentDir: string | undefined;
	sessionId: () => string | undefined;
	clock: Clock;
	warn: Report;
	isOpen: () => boolean;
}

/** `ended`: runs whose path to their files was checked. */
export async function finishEnded(ended: readonly LoggedRun[], deps: FinishDeps): Promise<void> {
	const { agentDir, warn, isOpen } = deps;
	const here = ended.filter(({ launch }) => hasWrapperHere(launch));
	if (agentDir === undefined || here.length === 0) return;
	// Few runs have a record, and a session may remember thousands.
	const names = new Set((await recordedRuns(agentDir)).map((dir) => basename(dir)));
	for (const run of here) {
		const { agentId, runId, artifacts: runDir } = run.launch;
		if (!isOpen() || runDir === undefined || !names.has(runId)) continue;
		await bestEffort(`ending what is left of agent ${agentId}`, warn, () => finish(run, { agentDir, runDir }, deps));
	}
}

async function finish(run: LoggedRun, place: { agentDir: string; runDir: string }, deps: FinishDeps): Promise<void> {
	const processes = new RunProcesses(place);
	const state = await processes.state();
	const stop = stopOf(run);
	// A wrapper that has written its result may still show it to people, or run the user's alert.
	if (state === "unknown" || (state === "alive" && !stop)) return;
	if (state === "alive" && stop) return stopAgain(run, stop, place, deps);
	if (await isWatched(place)) return; // that process is about to do the same
	if (stop) await processes.endRest(deps.clock); // commands that left their group
	await processes.forget();
}

async function stopAgain(
	{ launch }: LoggedRun,
	stop: Stop,
	place: { agentDir: string; runDir: string },
	{ manager, sessionId, clock, isOpen }: FinishDeps,
): Promise<void> {
	const us = { sessionId: sessionId() };
	if (!(await claimRun(place, us)).isOurs) return; // another pi watches it, and ends it
	const meta = await describe(launch);
	if (!isOpen()) return releaseRun(place, us);
	if (typeof meta !== "string") {
		const { artifacts, run } = meta;
		return manager.finishStop({ id: launch.agentId, run, spec: { ...meta.spec, cwd: launch.cwd }, artifacts }, stop);
	}
	// Nobody knows any more what it was to do. Which processes it has is recorded where no agent in a sandbox can write.
	const processes = new RunProcesses(place);
	if ((await processes.end(clock)) !== "unsure") await processes.forget();
}

/** How the session stopped it. Undefined if it ended by itself. */
function stopOf({ launch, settled }: LoggedRun): Stop | undefined {
	const outcome = settled && outcomeOfEntry(settled, launch);
	return outcome?.status === "aborted" ? { by: outcome.by, ...defined({ reason: outcome.reason }) } : undefined;
}
