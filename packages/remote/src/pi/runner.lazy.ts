/** The remote runner inside pi. The rest of this package is not loaded at startup: most users have only one machine. */
import { existsSync } from "node:fs";
import { once, type RunIdentity, type Runner, type RunSpec, systemClock } from "@pi-subagents/core";
import { type DetachedRunnerOptions, detachedRunner } from "@pi-subagents/core/detached";
import { piCommand, startingConversation } from "@pi-subagents/core/process";
import type { Allows } from "@pi-subagents/core/worktree";
import type { Machine } from "@pi-subagents/remote";

export interface LazyRemoteOptions extends DetachedRunnerOptions {
	/** pi's directory on this machine. */
	agentDir: string;
	/** Whether the user trusts the project in this directory. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Which of a repository's own settings git may use. */
	allows: Allows;
	/** The machines that the user defined, as they are now. */
	machines: () => Readonly<Record<string, Machine>>;
	/** The session that is open, whose directory a pasted command works in. */
	session: () => { cwd: string } | undefined;
}

/**
 * @example
 * ```ts
 * const machines = () => ({ box: { ssh: "me@box" } });
 * const session = () => undefined;
 * const remote = lazyRemoteRunner({ agentDir, isProjectTrusted: () => false, ask, allows: () => [], machines, session });
 * ```
 */
export function lazyRemoteRunner(options: LazyRemoteOptions): Runner {
	const { agentDir, machines, session, report = () => undefined } = options;
	const load = once(async () => {
		const { createMachines, remoteRunner } = await import("@pi-subagents/remote");
		const { linkTo } = createMachines(machines, { agentDir, report, pi: piCommand(process, existsSync) });
		const conversation = (dir: string, spec: RunSpec & RunIdentity) => startingConversation(dir, spec, systemClock);
		return remoteRunner({ ...options, linkTo, conversation, sessionCwd: () => session()?.cwd });
	});
	return detachedRunner(options, {
		launch: async (spec, dir, signal) => (await load()).launch(spec, dir, signal),
		rejoin: async (spec, dir) => (await load()).rejoin(spec, dir),
		startOver: async (spec, dir, outcome) => (await load()).startOver(spec, dir, outcome),
	});
}
