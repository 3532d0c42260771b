/** Everything that is fuzzed. */
import type { Target } from "./target.ts";
import { answerTargets, judgementTargets } from "./targets/answers.ts";
import { presetTargets } from "./targets/presets.ts";
import { programTargets } from "./targets/programs.ts";
import { remoteTargets } from "./targets/remote.ts";
import { boundaryTargets } from "./targets/rpc.ts";
import { runTargets } from "./targets/runs.ts";
import { scheduleTargets } from "./targets/schedules.ts";
import { settingsTargets } from "./targets/settings.ts";
import { workflowRunTargets, workflowTargets } from "./targets/workflows.ts";
import { worktreeTargets } from "./targets/worktrees.ts";

export const targets: readonly Target[] = [
	...presetTargets,
	...settingsTargets,
	...scheduleTargets,
	...boundaryTargets,
	...runTargets,
	...workflowTargets,
	...remoteTargets,
	...answerTargets,
	...programTargets,
];

/** Too slow for a few seconds of all. */
export const slowTargets: readonly Target[] = [...workflowRunTargets, ...judgementTargets, ...worktreeTargets];
