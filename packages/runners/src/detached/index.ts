/**
 * The parts of runs in their own processes, for those who start or follow them in another way, for example on another
 * machine. Loads without pi: what needs pi's modules is passed in.
 */

export { type FoundGuard, parseScoutAnswer, scoutArguments, scoutVariables } from "../extensions/scouting.ts";
export { type GuardFile, type GuardOrder, takeGuardOrder } from "../process/child/guard-wish.ts";
export {
	type DetachedLauncher,
	type DetachedRunnerOptions,
	detachedRunner,
} from "../process/parent/detached-runner.ts";
export { describeRun, type LaunchLookups, launchRun, makeRunDir, type ProcessHost } from "../process/parent/launch.ts";
export { type StartedWrapper, startDetached, type WrapperEnd } from "../process/parent/starter.ts";
export { withCwd } from "../session/history/session-text.ts";
