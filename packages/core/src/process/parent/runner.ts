/** Runs a child as its own pi process, behind a wrapper that writes its files and outlives this process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "../../base/best-effort.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/error.ts";
import { TEMPORARY_PREFIX } from "../../guards/runs-path.ts";
import type { Answer, Question } from "../../model/question.ts";
import type { Checkpoint, Emit, RunIdentity, Runner, RunSpec } from "../../model/runner.ts";
import { wantsExtensions } from "../../session/resources/extensions.ts";
import { launchRun, makeRunDir, type ProcessHost, type WrapperLauncher } from "./launch.ts";
import { DetachedRun, type DetachedRunContext, type RunSource } from "./run.ts";
import { startDetached } from "./starter.ts";

export interface ProcessRunnerOptions extends ProcessHost {
	/**
	 * Answers a child's questions. The signal fires when the answer is no longer wanted. When absent, they get no
	 * answer.
	 */
	ask?: (agentId: string, question: Question, signal: AbortSignal) => Promise<Answer>;
	/** Called with problems that do not fail the run. */
	report?: Report;
	/** Default: the system clock. */
	clock?: Clock;
}

/**
 * Its runs continue when this process ends. `attach` rejoins one, after `claimRun`.
 *
 * @example
 * ```ts
 * const ask = (id: string, question: Question, signal: AbortSignal) => manager.ask(id, question, signal);
 * const process = processRunner({ agentDir, isProjectTrusted: () => false, ask });
 * const manager = new Manager({ runners: { process }, clock: systemClock, newId });
 * ```
 */
export function processRunner(options: ProcessRunnerOptions): Runner {
	return detachedRunner(options, { start: startDetached, showsProgress: false });
}

/** A runner whose wrappers are started in another way. */
export function detachedRunner(options: ProcessRunnerOptions, launcher: WrapperLauncher): Runner {
	const { clock = systemClock, report = () => undefined, ask, parentSessionId } = options;
	const contextOf = (
		spec: RunSpec & RunIdentity,
		emit: Emit,
		checkpoint: Checkpoint | undefined,
	): DetachedRunContext => ({
		identity: { agentId: spec.agentId, run: spec.run },
		spec,
		sessionId: parentSessionId?.(),
		emit,
		checkpoint,
		ask: ask && ((question, signal) => ask(spec.agentId, question, signal)),
		clock,
		report,
	});
	return {
		keepsTime: true, // the wrapper does, even while no one watches
		start(spec, emit, checkpoint) {
			requireProvider(options, spec);
			return new DetachedRun(contextOf(spec, emit, checkpoint), {
				...runDirOf(spec),
				start: (dir, signal) => launchRun({ ...options, clock }, launcher, spec, dir, signal),
			});
		},
		attach: (spec, emit, checkpoint) =>
			new DetachedRun(contextOf(spec, emit, checkpoint), { openDir: async () => spec.artifacts }),
	};
}

/** Without a directory for its files, a run has them only while it lives. */
function runDirOf({ artifacts }: RunIdentity): Pick<RunSource, "openDir" | "closeDir"> {
	if (artifacts !== undefined) return { openDir: () => makeRunDir(artifacts) };
	return {
		openDir: () => mkdtemp(join(tmpdir(), TEMPORARY_PREFIX)),
		closeDir: (dir) => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
	};
}

function requireProvider({ extensionOfModel }: ProcessRunnerOptions, spec: RunSpec): void {
	if (wantsExtensions(spec) || extensionOfModel?.(spec.model) !== "user") return;
	throw new AgentError(
		"unsupported",
		`Model ${spec.model} comes from an extension, which an agent in its own process does not load. Give preset "${spec.type}" the extension (\`extensions\`), or run it in the session (\`runner: session\`).`,
	);
}
