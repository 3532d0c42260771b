/** Runs a child as the process runner does, in a tmux window of its own. */
import { systemClock } from "../clock.ts";
import { detachedRunner, type ProcessRunnerOptions } from "../process/runner.ts";
import type { Runner } from "../runner.ts";
import { windowStarter } from "./starter.ts";

export interface TmuxRunnerOptions extends ProcessRunnerOptions {
	/** Hears where an agent's window is and how to get there, in words for the user. */
	onWindow?: (hint: string) => void;
}

/**
 * The window opens in the tmux session that this process runs in, without getting in the way; outside of tmux, in a
 * server of our own, which ends with its last window. Closing the window stops the run, as a user's wish.
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
	return detachedRunner(options, { start: windowStarter({ clock, report, onWindow }), showsProgress: true });
}
