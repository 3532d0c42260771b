/** Runs a child as its own pi process, behind a wrapper that writes its files and outlives this process. */

import type { RunIdentity, Runner, RunSpec } from "@pi-subagents/core";
import { AgentError, systemClock } from "@pi-subagents/core";
import { RunProcesses } from "@pi-subagents/core/internal/signals";
import type { Guards } from "../../extensions/guards.ts";
import type { RunningExtension } from "../../extensions/running.ts";
import { wantsExtensions } from "../../session/resources/extensions.ts";
import { type DetachedRunnerOptions, detachedRunner } from "./detached-runner.ts";
import { withGuardEntries } from "./guard-conversation.ts";
import { launchRun, type ProcessHost, type WrapperLauncher } from "./launch.ts";
import { findResources } from "./resources.ts";
import { startingConversation } from "./resume-source.ts";
import { startDetached } from "./starter.ts";

export interface ProcessRunnerOptions extends Omit<ProcessHost, "ui">, DetachedRunnerOptions {
	/** The user's extensions that guard every child. Absent: none. */
	guards?: Guards;
	/** The extensions that the parent runs. Absent, or undefined: it is not known. */
	runningExtensions?: () => readonly RunningExtension[] | undefined;
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
	return wrapperRunner(options, { start: startDetached, showsProgress: false });
}

/** A runner whose wrappers are started in another way on this machine. */
export function wrapperRunner(options: ProcessRunnerOptions, launcher: WrapperLauncher): Runner {
	const { clock = systemClock } = options;
	const lookups = {
		async conversation(dir: string, spec: RunSpec & RunIdentity) {
			const conversation = await startingConversation(dir, spec, clock);
			const state = await options.guards?.state();
			const begun = { cwd: spec.cwd, id: crypto.randomUUID(), at: clock.now() };
			return state ? withGuardEntries(conversation, state, begun) : conversation;
		},
		async resources(spec: RunSpec, scope: Parameters<typeof findResources>[1]) {
			const found = await findResources(options, scope, spec);
			// Which of its extensions provides the model is not known; the child checks that it has it.
			if (found.guards.length === 0 && !wantsExtensions(spec)) requireOwnModel(options, spec);
			return found;
		},
	};
	return detachedRunner(options, {
		launch: (spec, dir, signal) => launchRun({ ...options, ...lookups, clock }, launcher, spec, dir, signal),
		processesOf: ({ machine }, runDir) =>
			machine === undefined ? new RunProcesses({ agentDir: options.agentDir, runDir }) : undefined,
	});
}

/** For a child that loads no extension of the user's. */
function requireOwnModel({ extensionOfModel }: ProcessRunnerOptions, spec: RunSpec): void {
	if (extensionOfModel?.(spec.model) !== "user") return;
	throw new AgentError(
		"unsupported",
		`Model ${spec.model} comes from an extension, which an agent in its own process does not load. Give preset "${spec.type}" the extension (\`extensions\`), or run it in the session (\`runner: session\`).`,
	);
}
