/**
 * A runner for runs that live in their files: wherever the wrapper is, its run is followed and steered through the
 * run's directory. Loads without pi.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
	AgentUi,
	Answer,
	Checkpoint,
	Emit,
	Question,
	Report,
	RunIdentity,
	Runner,
	RunSpec,
} from "@pi-subagents/core";
import { type Clock, systemClock } from "@pi-subagents/core";
import { TEMPORARY_PREFIX } from "@pi-subagents/core/internal/files";
import type { RunProcesses } from "@pi-subagents/core/internal/signals";
import type { Outcome } from "@pi-subagents/progress";
import { forgetProof } from "@pi-subagents/runs/internal";
import { makeRunDir } from "./launch.ts";
import { DetachedRun, type DetachedRunContext, type RunSource } from "./run.ts";
import type { StartedWrapper } from "./starter.ts";

export interface DetachedRunnerOptions {
	/** pi's own directory. Which processes run and watch a run is recorded there, and which results are theirs. */
	agentDir: string;
	/**
	 * Answers a child's questions. The signal fires when the answer is no longer wanted. When absent, they get no
	 * answer.
	 */
	ask?: (agentId: string, question: Question, signal: AbortSignal) => Promise<Answer>;
	/** The user's screen, for extensions in children. When absent, their dialogs are dismissed. */
	ui?: AgentUi;
	/** Called with problems that do not fail the run. */
	report?: Report;
	/** Default: the system clock. */
	clock?: Clock;
	/** The id of the parent's pi session. */
	parentSessionId?: () => string | undefined;
}

/** How a run that keeps its files in a directory begins, wherever its wrapper runs. */
export interface DetachedLauncher {
	/** Writes the run's meta file and starts the wrapper, unless the signal has fired. A rejection is how the run failed. */
	launch(spec: RunSpec & RunIdentity, dir: string, signal: AbortSignal): Promise<StartedWrapper | undefined>;
	/** Reconnects to a run that an earlier process started. Absent if its files say everything. */
	rejoin?(spec: RunSpec & RunIdentity, dir: string): Promise<StartedWrapper> | StartedWrapper;
	/** The processes of the run on this machine. Absent: it has none here, and none is signalled, whatever its files say. */
	processesOf?(spec: RunSpec & RunIdentity, dir: string): RunProcesses | undefined;
	/** Moves the files of a run that ended this way aside, if it may be launched again in the same directory. */
	startOver?(spec: RunSpec & RunIdentity, dir: string, outcome: Outcome): Promise<boolean>;
}

/**
 * A runner that knows its runs only by their files, which another process keeps up to date.
 *
 * @example
 * ```ts
 * const remote = detachedRunner({ agentDir, ask }, { launch: sendOrder, rejoin: mirrorAgain });
 * ```
 */
export function detachedRunner(options: DetachedRunnerOptions, launcher: DetachedLauncher): Runner {
	const { agentDir, clock = systemClock, report = () => undefined, ask, ui, parentSessionId } = options;
	const contextOf = (
		spec: RunSpec & RunIdentity,
		emit: Emit,
		checkpoint: Checkpoint | undefined,
	): DetachedRunContext => ({
		identity: { agentId: spec.agentId, run: spec.run },
		agentDir,
		processesIn: (dir) => launcher.processesOf?.(spec, dir),
		spec,
		sessionId: parentSessionId?.(),
		emit,
		checkpoint,
		ask: ask && ((question, signal) => ask(spec.agentId, question, signal)),
		ui: ui && {
			ask: (dialog, signal) => ui.ask(spec.agentId, dialog, signal),
			notify: (notice) => ui.notify(spec.agentId, notice),
		},
		clock,
		report,
	});
	const startOver = (spec: RunSpec & RunIdentity): Pick<RunSource, "startOver"> => ({
		startOver: async (dir, outcome) => (await launcher.startOver?.(spec, dir, outcome)) ?? false,
	});
	return {
		// The wrapper does, even while no one watches. On another machine it may be anything.
		keepsTime: launcher.processesOf ? true : "elsewhere",
		start: (spec, emit, checkpoint) =>
			new DetachedRun(contextOf(spec, emit, checkpoint), {
				...runDirOf(spec, agentDir),
				...startOver(spec),
				start: (dir, signal) => launcher.launch(spec, dir, signal),
			}),
		attach: (spec, emit, checkpoint) =>
			new DetachedRun(contextOf(spec, emit, checkpoint), {
				openDir: async () => spec.artifacts,
				...startOver(spec),
				rejoin: (dir) => launcher.rejoin?.(spec, dir),
			}),
	};
}

/** Without a directory for its files, a run has them only while it lives. */
function runDirOf({ artifacts }: RunIdentity, agentDir: string): Pick<RunSource, "openDir" | "closeDir"> {
	if (artifacts !== undefined) return { openDir: () => makeRunDir(artifacts) };
	return {
		openDir: () => mkdtemp(join(tmpdir(), TEMPORARY_PREFIX)),
		async closeDir(dir) {
			await rm(dir, { recursive: true, force: true, maxRetries: 3 });
			await forgetProof({ agentDir, runDir: dir });
		},
	};
}
