/** Runs that live in processes of their own and may outlive this one, and the files that all runs keep. */
export { leadsInto } from "./child/path-guard.ts";
export { identityOf, isAlive } from "./identity.ts";
export { readInterrupted } from "./interrupted.ts";
export type { ProcessHost } from "./launch.ts";
export {
	type EventLine,
	type Meta,
	type PiLaunch,
	type ProcessIdentity,
	type ResultFile,
	RUN_FILES,
	type WrapperEvent,
} from "./layout.ts";
export { type Claim, claimRun } from "./owner.ts";
export { type PiCommand, piCommand } from "./pi-command.ts";
export { openPlain } from "./plain-file.ts";
export { readMeta, readResult, readWrapper } from "./read.ts";
export { type Recorder, type RecorderOptions, recordRuns } from "./recorder.ts";
export { type Pruned, type PruneOptions, pruneConversations, pruneRuns } from "./retention.ts";
export { type ProcessRunnerOptions, processRunner } from "./runner.ts";
export { isRunDir, isRunPath, prepareRunsDir, type RunsDir } from "./runs-dir.ts";
export { isWithin } from "./within.ts";
