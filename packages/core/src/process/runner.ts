/** Runs a child as a pi process of its own, behind a wrapper that keeps its files and outlives this process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer, Question } from "../asking.ts";
import type { Report } from "../best-effort.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../error.ts";
import { splitModelName } from "../models.ts";
import type { Checkpoint, Emit, RunIdentity, Runner, RunSpec } from "../runner.ts";
import { wantsExtensions } from "../session/extensions.ts";
import { launchRun, makeRunDir, type ProcessHost, type Way } from "./launch.ts";
import { type Beginning, DetachedRun, type RunSurroundings } from "./run.ts";
import { startDetached } from "./starter.ts";

export interface ProcessRunnerOptions extends ProcessHost {
	/** Hears what a child asks, and answers. The signal says that the answer is no longer wanted. Nobody when absent. */
	ask?: (agentId: string, question: Question, signal: AbortSignal) => Promise<Answer>;
	/** Whether only an extension knows this provider, so that a child without extensions cannot have it. */
	isExtensionProvider?: (provider: string) => boolean;
	/** Hears of what went wrong beside a run. */
	report?: Report;
	/** Default: the machine's own. */
	clock?: Clock;
}

/**
 * Its runs go on when this process ends. `attach` rejoins one, after `claimRun`.
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
export function detachedRunner(options: ProcessRunnerOptions, way: Way): Runner {
	const { clock = systemClock, report = () => undefined, ask, parentSessionId } = options;
	const around = (spec: RunSpec & RunIdentity, emit: Emit, checkpoint: Checkpoint | undefined): RunSurroundings => ({
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
		keepsTime: true, // the wrapper does, also while nobody watches
		start(spec, emit, checkpoint) {
			requireProvider(options, spec);
			return new DetachedRun(around(spec, emit, checkpoint), {
				...placeOf(spec),
				start: (dir, signal) => launchRun({ ...options, clock }, way, spec, dir, signal),
			});
		},
		attach: (spec, emit, checkpoint) =>
			new DetachedRun(around(spec, emit, checkpoint), { openDir: async () => spec.artifacts }),
	};
}

/** Without a place for its files a run has them only as long as it lives. */
function placeOf({ artifacts }: RunIdentity): Pick<Beginning, "openDir" | "closeDir"> {
	if (artifacts !== undefined) return { openDir: () => makeRunDir(artifacts) };
	return {
		openDir: () => mkdtemp(join(tmpdir(), "pi-subagents-")),
		closeDir: (dir) => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
	};
}

function requireProvider({ isExtensionProvider }: ProcessRunnerOptions, spec: RunSpec): void {
	const { provider } = splitModelName(spec.model);
	if (wantsExtensions(spec) || !isExtensionProvider?.(provider)) return;
	throw new AgentError(
		"unsupported",
		`Model ${spec.model} comes from an extension, which an agent in a process of its own does not load. Give preset "${spec.type}" the extension (\`extensions\`), or run it in the session (\`runner: session\`).`,
	);
}
