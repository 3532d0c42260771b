/** The remote runner inside pi. The rest of this package is not loaded at startup: most users have only one machine. */
import { existsSync } from "node:fs";
import { type RunIdentity, type Runner, type RunSpec, systemClock } from "@pi-subagents/core";
import { once } from "@pi-subagents/core/internal/base";
import type { Machine } from "@pi-subagents/remote";
import { type DetachedRunnerOptions, detachedRunner } from "@pi-subagents/runners/detached";
import {
	type GuardOrder,
	guardOrderVariables,
	piCommand,
	startingConversation,
	withGuardEntries,
	withoutExtensionEntries,
} from "@pi-subagents/runners/process";
import type { Guards } from "@pi-subagents/runners/session";
import type { Allows } from "@pi-subagents/worktree";

export interface LazyRemoteOptions extends DetachedRunnerOptions {
	/** pi's directory on this machine. */
	agentDir: string;
	/** Whether the user trusts the project in this directory. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Which of a repository's own settings git may use. */
	allows: Allows;
	/** The machines that the user defined, as they are now. */
	machines: () => Readonly<Record<string, Machine>>;
	/** The user's extensions that guard every child here. A worker on this machine obeys the same. Absent: none. */
	guards?: Guards;
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
	const { agentDir, machines, session, guards, report = () => undefined } = options;
	/** For the worker on this machine. */
	let variables: Record<string, string> = {};
	const load = once(async () => {
		const { createMachines, remoteRunner } = await import("@pi-subagents/remote");
		const pi = piCommand(process, existsSync);
		const { linkTo } = createMachines(machines, { agentDir, report, pi, variables: () => variables });
		const conversation = async (dir: string, spec: RunSpec & RunIdentity) => {
			const found = await startingConversation(dir, spec, systemClock);
			const begun = { cwd: spec.cwd, id: crypto.randomUUID(), at: systemClock.now() };
			// What guards keep of the session stays on this machine, and those of another do not read what its agents wrote.
			if (!isHere(spec, machines())) return withoutExtensionEntries(found);
			return guards ? withGuardEntries(found, await guards.state(), begun) : found;
		};
		return remoteRunner({ ...options, linkTo, conversation, sessionCwd: () => session()?.cwd });
	});
	return detachedRunner(options, {
		async launch(spec, dir, signal) {
			if (guards && isHere(spec, machines())) variables = guardOrderVariables(await orderOf(guards));
			return (await load()).launch(spec, dir, signal);
		},
		rejoin: async (spec, dir) => (await load()).rejoin(spec, dir),
		startOver: async (spec, dir, outcome) => (await load()).startOver(spec, dir, outcome),
	});
}

/** A worker on this machine, unless the user gave its name to another one. */
function isHere({ machine }: RunSpec, machines: Readonly<Record<string, Machine>>): boolean {
	return machine === "local" && !Object.hasOwn(machines, machine);
}

async function orderOf(guards: Guards): Promise<GuardOrder> {
	const [found, { flags }] = await Promise.all([guards.find(), guards.state()]);
	return { flags, guards: found.map(({ path, names }) => ({ path, name: names[0] ?? path, offersTools: false })) };
}
