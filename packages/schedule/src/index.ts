export { type Job, JobError, type JobRun, type JobSpec, type Missed, NotBegun, type Overlap } from "./jobs/job.ts";
export type { JobEntry, StoredJob } from "./jobs/job-reducer.ts";
export type { Clock } from "./rules/clock.ts";
export { describeSchedule } from "./rules/describe.ts";
export { nextRuns, type ParseOptions, parseSchedule, type Schedule, ScheduleError } from "./rules/schedule.ts";
export { type JobPatch, Scheduler, type SchedulerOptions } from "./scheduler/scheduler.ts";
export { type FileStoreOptions, fileJobStore } from "./store/file-store.ts";
export { type JobStore, memoryJobStore, type RecordResult } from "./store/store.ts";
