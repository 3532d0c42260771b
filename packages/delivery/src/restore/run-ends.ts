/** How the runs of a session log ended, from the log or from the files of the runs, and what happened to them as events. */
import { type AgentEvent, type Clock, steadyClock } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import {
	eventsOfRun,
	fileKeptResult,
	filledFrom,
	isRunDir,
	isRunPath,
	isWatched,
	type KnownEnd,
	type LaunchEntry,
	launchedRun,
	livingWrapper,
	type ResultClaim,
	readClaim,
	readInterrupted,
	readMeta,
	type SettledEntry,
	settledEnd,
	writeResult,
} from "@pi-subagents/runs";
import { isOwed, type LoggedRun } from "../journal/journal.ts";

/** How a run ended, as far as the session or its files know. */
export interface RunEnd extends KnownEnd {
	/** Its `result.json` holds the whole answer. */
	isFiled: boolean;
}

/** Where runs have their processes, and how the time passes there. */
export interface EndPlace {
	/** pi's own directory. Without it no process of a run is known. */
	agentDir: string | undefined;
	clock: Clock;
}

/** The run without the path to its files unless they are its own: an edited session file must not make us read others. */
export function withOwnFiles(run: LoggedRun): LoggedRun {
	const { artifacts, ...launch } = run.launch;
	return artifacts === undefined || isRunPath(artifacts, launch.runId) ? run : { ...run, launch };
}

/** How a run of the opened session ended. Undefined: it may still be running, or that is unknown. */
export async function endOf(run: LoggedRun, around: EndPlace): Promise<RunEnd | undefined> {
	const { launch, outlives, settled } = run;
	// For a delivered result the beginning of the answer is enough until the rest is asked for.
	if (settled && !isOwed(run)) return loggedEnd(settled, launch);
	const first = await claimOf(launch, around.agentDir);
	if (settled) {
		const isFiled = first !== undefined && (first.isFiled || (await fileNow(launch, around)));
		return undeliveredEnd(settled, launch, first && { outcome: first.result.outcome, isFiled });
	}
	const claim = first?.isProven || outlives ? first : ((await lastClaimOf(launch, around)) ?? first);
	// One that the agent could have written counts when its process is gone; until then it is watched.
	const isStillRunning = claim?.isProven === false && outlives && (await hasLivingWrapper(launch, around));
	if (claim && !isStillRunning) return { ...claim.result, isFiled: claim.isFiled || (await fileNow(launch, around)) };
	// A run that does not outlive its session ended with it, and its log says how far it had come.
	return outlives ? undefined : interruptedEnd(launch).catch(() => undefined);
}

/** How a run of another session ended. Unlike `endOf` it changes no file and takes no unfinished run for dead. */
export async function recordedEndOf(
	{ launch, settled }: LoggedRun,
	agentDir: string | undefined,
): Promise<RunEnd | undefined> {
	if (settled) return loggedEnd(settled, launch);
	const claim = await claimOf(launch, agentDir);
	return claim && { ...claim.result, isFiled: claim.isFiled };
}

/** How an archived run ended. It has ended, even if no record says how. */
export function archivedEndOf({ launch, settled }: LoggedRun): RunEnd {
	if (settled) return loggedEnd(settled, launch);
	return {
		outcome: { status: "aborted", by: "lost", reason: "the session's entry about its end cannot be read" },
		completedAt: launch.startedAt,
		isFiled: false,
	};
}

/** With only what was asked for: its `meta.json` says that, which a sandboxed agent cannot write, or else its launch. */
async function claimOf(launch: LaunchEntry, agentDir: string | undefined): Promise<ResultClaim | undefined> {
	const { artifacts, runId, runner, machine, isolation } = launch;
	if (artifacts === undefined || !(await isRunDir(artifacts, runId).catch(() => false))) return undefined;
	const meta = await readMeta(artifacts);
	const asked = typeof meta === "string" || meta.runId !== runId ? undefined : meta.spec;
	const known = {
		runner,
		...defined({ machine }),
		...(isolation ? { isolation: { kind: isolation, base: "head" as const } } : {}),
	};
	// The watcher of the run reports what is wrong.
	const claim = await readClaim(artifacts, asked ?? known, { agentDir }).catch(() => undefined);
	return claim?.result.runId === runId ? claim : undefined;
}

/** There was no room for its file when it ended; there may be now. */
async function fileNow({ artifacts }: LaunchEntry, { agentDir }: EndPlace): Promise<boolean> {
	return artifacts !== undefined && agentDir !== undefined && fileKeptResult({ agentDir, runDir: artifacts });
}

/** How long a session that is opened waits for a process that is just ending. */
const ENDING_MS = 5_000;
const LOOK_MS = 50;

/**
 * What a wrapper writes that still lives: it has lost its session and is about to say how its run ended. It knows more
 * than the log does: whether the work was verified, and on which branch it is.
 */
async function lastClaimOf(launch: LaunchEntry, { agentDir, clock }: EndPlace): Promise<ResultClaim | undefined> {
	const { artifacts } = launch;
	if (artifacts === undefined || agentDir === undefined || !hasWrapperHere(launch)) return undefined;
	const place = { agentDir, runDir: artifacts };
	// One that another pi watches is not ending: this session is a copy of that one's.
	if (await isWatched(place)) return undefined;
	const { now, after, hold } = steadyClock(clock);
	const letGo = hold?.(); // its timers alone would not keep pi alive
	try {
		for (const deadline = now() + ENDING_MS; now() < deadline; ) {
			const isGone = (await livingWrapper(place).catch(() => undefined)) === undefined;
			const claim = await claimOf(launch, agentDir);
			if (claim?.isProven || isGone) return claim;
			await new Promise<void>((resolve) => void after(LOOK_MS, resolve));
		}
		return undefined;
	} finally {
		letGo?.();
	}
}

async function hasLivingWrapper(launch: LaunchEntry, { agentDir }: EndPlace): Promise<boolean> {
	const { artifacts } = launch;
	if (artifacts === undefined || agentDir === undefined || !hasWrapperHere(launch)) return false;
	return (await livingWrapper({ agentDir, runDir: artifacts }).catch(() => undefined)) !== undefined;
}

/** Whether it runs in its own process on this machine. */
export function hasWrapperHere({ runner }: LaunchEntry): boolean {
	return runner === "process" || runner === "tmux";
}

/** An undelivered answer is delivered whole: from the run's file, or from the entry that holds it instead. */
function undeliveredEnd(
	settled: SettledEntry,
	launch: LaunchEntry,
	kept: Pick<RunEnd, "outcome" | "isFiled"> | undefined,
): RunEnd {
	const end = loggedEnd(settled, launch);
	// Undefined after a stop that the child did not see any more, too.
	const outcome = kept && filledFrom(kept.outcome, end.outcome);
	return kept && outcome ? { ...end, outcome, isFiled: kept.isFiled } : end;
}

/** A child that had answered when its process was killed gets the result file that could not be written any more. */
async function interruptedEnd(launch: LaunchEntry): Promise<RunEnd | undefined> {
	const { artifacts, runId, runner } = launch;
	if (artifacts === undefined || !(await isRunDir(artifacts, runId))) return undefined;
	const end = await readInterrupted(artifacts, launch, { by: "shutdown" });
	const isMissing = end?.outcome.status === "completed" && runner === "session"; // others have a wrapper that writes it
	const isFiled = isMissing && (await writeResult(artifacts, end).catch(() => false));
	return end && { ...end, isFiled };
}

function loggedEnd(settled: SettledEntry, launch: LaunchEntry): RunEnd {
	return { ...settledEnd(settled, launch), isFiled: false };
}

/** What happened to the run, numbered after the event `seq`. Without an end it is still running. */
export function eventsOf({ launch, outlives }: LoggedRun, seq: number, end: RunEnd | undefined): AgentEvent[] {
	const { startedAt } = launch; // whether it had to wait, only its files say
	return eventsOfRun({ ...launchedRun(launch, { outlives }), startedAt, ...defined({ end }) }, seq);
}
