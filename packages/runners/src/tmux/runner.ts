/** Runs a child as the process runner does, in its own tmux window. */

import type { Runner } from "@pi-subagents/core";
import { type Clock, type Report, steadyClock, systemClock } from "@pi-subagents/core";
import { bestEffort, defined, sleep } from "@pi-subagents/core/internal/base";
import { identityOf, isAlive, type ProcessIdentity, RUN_MARK } from "@pi-subagents/core/internal/signals";
import { type ProcessRunnerOptions, wrapperRunner } from "../process/parent/runner.ts";
import { type Starter, scriptVariables } from "../process/parent/starter.ts";
import { assertTmuxRuns } from "./command.ts";
import { type EnvSocket, offerEnvSocket } from "./env-socket.ts";
import { openWindow } from "./window.ts";

export interface TmuxRunnerOptions extends ProcessRunnerOptions {
	/** Called with where an agent's window is and how to get there, as text for the user. */
	onWindow?: (hint: string) => void;
}

/**
 * The window opens in the background of the tmux session that this process runs in; outside of tmux, in our own
 * server, which ends with its last window. Closing the window stops the run as a user's wish.
 *
 * @example
 * ```ts
 * const onWindow = (hint: string) => console.log(hint); // To watch scout: look around, run `tmux …
 * const tmux = tmuxRunner({ agentDir, isProjectTrusted: () => false, ask, onWindow });
 * const manager = new Manager({ runners: { tmux }, clock: systemClock, newId });
 * ```
 */
export function tmuxRunner(options: TmuxRunnerOptions): Runner {
	const { clock = systemClock, report = () => undefined, onWindow = () => undefined } = options;
	return wrapperRunner(options, { start: windowStarter({ clock, report, onWindow }), showsProgress: true });
}

interface WindowStarterOptions {
	clock: Clock;
	report: Report;
	onWindow: (hint: string) => void;
}

/** How long the wrapper may take to start in its window. */
const START_MS = 30_000;
const LOOK_MS = 250;

function windowStarter({ clock, report, onWindow }: WindowStarterOptions): Starter {
	return async ({ command, args, cwd, env, processes, title, signal }) => {
		assertTmuxRuns(process.platform);
		const socket = await offerEnvSocket(env, report);
		try {
			const argv = [...startVariables(command, env), command, ...args, socket.path];
			const window = await openWindow({ argv, cwd, env, title });
			onWindow(window.hint);
			const wrapper = await identityOf(window.pid);
			await untilTaken(socket, wrapper, clock, signal).catch(async (error) => {
				await bestEffort("closing a window", report, () => window.close());
				await bestEffort("ending what ran in a window", report, () => processes.end(clock));
				throw error;
			});
			return {
				ended: socket.ended.then((lastLine) => ({
					how: "its window was closed, or its process was killed",
					...defined({ lastLine }),
				})),
				sendsResult: true,
				letGo: () => socket.close(),
			};
		} catch (error) {
			socket.close();
			throw error;
		}
	};
}

/** These must be set when the program starts; the rest of the environment comes later. */
function startVariables(command: string, env: Readonly<Record<string, string | undefined>>): string[] {
	const variables = { ...scriptVariables(command), [RUN_MARK]: env[RUN_MARK] };
	return ["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
}

async function untilTaken(
	socket: EnvSocket,
	wrapper: ProcessIdentity,
	given: Clock,
	signal: AbortSignal,
): Promise<void> {
	const clock = steadyClock(given);
	for (const deadline = clock.now() + START_MS; ; ) {
		const isAt = await Promise.race([socket.taken, sleep(LOOK_MS, clock)]);
		if (isAt === "taken") return;
		signal.throwIfAborted();
		if (!(await isAlive(wrapper))) throw new Error("The agent's window was closed before the agent had started.");
		if (clock.now() > deadline) throw new Error(`The agent did not start in its window within ${START_MS / 1_000} s.`);
	}
}
