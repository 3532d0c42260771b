export { checkedResult, type ResultClaim, readCheckedResult, readClaim } from "./claims/checked-result.ts";
export { type ReadRun, type ReadRunOptions, readRun } from "./claims/read-run.ts";
export { readInterrupted } from "./claims/recover-result.ts";
export { launchedRun, outcomeOfEntry, settledEnd } from "./claims/session-runs.ts";
export { filledFrom, resultFileOf, wholeOutcome } from "./claims/whole-outcome.ts";
export {
	entryTypeFor,
	hasOwnEnd,
	isOfSession,
	type JournalEntry,
	type LaunchEntry,
	outlivesIn,
	parseAnyEntry,
	parseEntry,
	type SettledEntry,
} from "./format/entries.ts";
export { betweenAttempts, LOST_DIR, RUN_FILES } from "./format/layout.ts";
export type { EventLine } from "./format/lines.ts";
export type { Meta } from "./format/meta.ts";
export type { ResultFile } from "./format/result.ts";
export { livingWrapper } from "./living-wrapper.ts";
export { listRuns, type OpenQuestion, type RunList, type RunOverview, type RunState } from "./overview/list-runs.ts";
export { answerRun, stopRun } from "./overview/orders.ts";
export { findRunsDirs, rememberRunsDir } from "./overview/projects.ts";
export { type RunText, runTextOf } from "./overview/run-text.ts";
export { type Claim, claimDir, claimRun, isWatched, releaseDir, releaseRun, removeDeadOwners } from "./owner.ts";
export { type LineRange, readLineRange } from "./peek-file.ts";
export { isProven, keptResult, proveResult } from "./proof.ts";
export { isRunSpec, parseResult, readEvents, readMeta, readResult, readToolOutputs, readWrapper } from "./read.ts";
export { type Recorder, recordRuns } from "./recorder.ts";
export { type Recording, type ReplayOptions, replayRunner } from "./replay-runner.ts";
export { pruneConversations, pruneRuns } from "./retention.ts";
export { eventsOfRun, type KnownEnd, type KnownRun, knownRun, recordOfRun } from "./run-events.ts";
export { isRunDir, isRunPath, prepareRunsDir, type RunsDir } from "./runs-dir.ts";
export { runSpanId, traceHash, traceOf, traceparentOf } from "./trace-ids.ts";
export { fileKeptResult, isVerified, writeResult } from "./write.ts";
