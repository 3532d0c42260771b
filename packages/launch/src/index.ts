/** From a request to a complete `RunSpec`. Loads without pi: whatever needs pi comes in through `LauncherHost`. */

export { agentDescription } from "./agent-description.ts";
export { newAgentId } from "./agent-id.ts";
export { oncePerTurn } from "./coalesce.ts";
export { type Confirm, createGitTrust, type GitTrust } from "./git-trust.ts";
export { holdsJobs, noteSession, prepareProjectDir } from "./jobs/directory.ts";
export { type KeptCall, keptCall, parseCall, type ScheduledCall, workflowJob } from "./jobs/job-payload.ts";
export { addedText, isQuiet, momentText, runText, scopeText, type Timetable, timetableOf } from "./jobs/job-text.ts";
export { type PruneSchedulesOptions, pruneSchedules } from "./jobs/prune.ts";
export { parseRequest, type ScheduleRequest, type Scope } from "./jobs/request.ts";
export { loadSchedule } from "./jobs/schedule.lazy.ts";
export type { ScheduledJob, Schedules } from "./jobs/schedules.ts";
export { continuedParams, DEFAULT_PRESET, type LaunchParams, resumedParams } from "./launch-params.ts";
export { createLauncher, type Launcher } from "./launcher.ts";
export type {
	LaunchEnvironment,
	LauncherHost,
	LaunchHost,
	LaunchSession,
	SessionContext,
	WorktreeRequest,
} from "./ports.ts";
export { presetList } from "./preset-list.ts";
export { loadPresets } from "./presets.lazy.ts";
export { type PresetOverride, type PresetReport, projectCounts, usablePaths } from "./presets.ts";
export {
	createRuntimePresets,
	type RegisteredPresets,
	type Registration,
	type RuntimePresets,
} from "./runtime-presets.ts";
export {
	type Config,
	createConfigReader,
	type SettingsPlace,
	type StoredTrust,
	settingsPath,
} from "./settings/config.ts";
export { readings, unread } from "./settings/foreign.ts";
export { saveSettings } from "./settings/save.ts";
export { type FileNote, parseObject, type Refusal, type Settings } from "./settings/settings.ts";
export { choicesOf, expected, isGroup, type Shape, settingsShape } from "./settings/shape.ts";
