/** Internal: what the runners need of the files of a run, beyond what readers do. Not part of the versioned interface. */

export { checkedLine, type LogSpec } from "../claims/checked-line.ts";
export type { AskedFor } from "../claims/checked-outcome.ts";
export { judgeUnobserved } from "../claims/recover-result.ts";
export { isPlainBranch, reportOfRecord } from "../claims/worktree-report.ts";
export {
	type ControlLine,
	isLifeCycleLine,
	type LifeCycleLine,
	type LiveLine,
	type WrapperEvent,
} from "../format/lines.ts";
export type { PiLaunch } from "../format/meta.ts";
export { forgetProof } from "../proof.ts";
export { parseControl, parseEvent, parseLive } from "../read.ts";
export { RunTotals, timesOf } from "../run-totals.ts";
export { digestOfDialog } from "../shown-dialog.ts";
export { metaOf, writeMeta, writeOwnResult } from "../write.ts";
