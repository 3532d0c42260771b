/** Runs in their own processes, which may outlive this one, and the files of all runs. */

export { openPlain } from "../files/plain-file.ts";
export { isWithin } from "../files/within.ts";
export { leadsInto } from "../guards/path-guard.ts";
export { hideFromGit } from "../runs/git-ignore.ts";
export { identityOf, isAlive } from "../runs/identity.ts";
export {
	type EventLine,
	type Meta,
	type PiLaunch,
	type ProcessIdentity,
	type ResultFile,
	RUN_FILES,
	type WrapperEvent,
} from "../runs/layout.ts";
export { type Claim, claimRun } from "../runs/owner.ts";
export { readMeta, readResult, readWrapper } from "../runs/read.ts";
export { type Recorder, type RecorderOptions, recordRuns } from "../runs/recorder.ts";
export { readInterrupted } from "../runs/recover-result.ts";
export { type Pruned, type PruneOptions, pruneConversations, pruneRuns } from "../runs/retention.ts";
export { isRunDir, isRunPath, prepareRunsDir, type RunsDir } from "../runs/runs-dir.ts";
export { writeResult } from "../runs/write.ts";
export type { ProcessHost } from "./parent/launch.ts";
export { type ProcessRunnerOptions, processRunner } from "./parent/runner.ts";
export { type PiCommand, piCommand } from "./pi/pi-command.ts";
